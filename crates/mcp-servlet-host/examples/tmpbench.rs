use mcp_servlet_host::*;
fn main() {
    let f = std::env::args().nth(1).unwrap();
    let t = std::time::Instant::now();
    let s = Servlet::load(f.as_str(), &LoadOptions::default()).unwrap();
    eprintln!("load {:?}", t.elapsed());
    let mut v: Vec<u128> = (0..20000).map(|_| { let t = std::time::Instant::now(); s.call("greet", None).unwrap(); t.elapsed().as_nanos() }).collect();
    v.sort(); eprintln!("p50 {} p99 {}", v[v.len()/2], v[v.len()*99/100]);
    let mut v: Vec<u128> = (0..2000).map(|_| { let t = std::time::Instant::now(); s.call("boom", None).unwrap_err(); t.elapsed().as_nanos() }).collect();
    v.sort(); eprintln!("trap p50 {} p99 {}", v[v.len()/2], v[v.len()*99/100]);
}
