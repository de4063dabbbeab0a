//! The engines of wasmtime.

use std::sync::LazyLock;

use wasmtime::{
    Config, Enabled, Engine, Error, InstancePre, Linker, Module, OptLevel, PoolingAllocationConfig,
    RegallocAlgorithm, Result, Strategy,
};

use super::HostFunction;
use crate::{functions, inspect, options::Quality, state::State};

/// How many instances a pool has room for. Each reserves 8 GiB of address space, but no memory, and its stack takes two
/// microseconds at the start of the process. Further instances start outside the pool, which takes longer.
const INSTANCES: u32 = 250;

/// How many entries a table in the pool can have.
const ENTRIES: u64 = 100_000;

/// The bytes of each memory that an instance leaves in its place for the next one. Clearing them costs less than returning
/// them to the system and getting them back. Most calls write fewer bytes. The rest of a large call goes back to the system:
/// otherwise each place would keep the memory of its largest call.
const RESIDENT: usize = 512 << 10;

/// The stack in bytes for WebAssembly that the baseline compiler compiled: four times the usual one, because its frames
/// are larger.
const BASELINE_STACK: usize = 2 << 20;

/// An engine, and the functions that modules import.
pub(super) struct Host {
    pub(super) engine: Engine,
    linker: Linker<State>,
}

/// Whether the fuel of calls is counted. The code of a module depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Metering {
    Off,
    On,
}

/// The engines for one kind of code. `None` if an engine cannot be made.
struct Hosts {
    /// Its instances take their memory from a pool.
    pooling: LazyLock<Option<Host>>,
    /// For modules that do not fit into the pool, for example with several memories.
    on_demand: LazyLock<Option<Host>>,
}

static HOSTS: Hosts = Hosts {
    pooling: LazyLock::new(|| pooling(Metering::Off)),
    on_demand: LazyLock::new(|| on_demand(Metering::Off)),
};

/// For code of the baseline compiler, which each servlet has for seconds only. So its instances need no pool.
///
/// Wasmtime supports Winch fully on this architecture only: <https://docs.wasmtime.dev/stability-tiers.html>.
static BASELINE: LazyLock<Option<Host>> = LazyLock::new(|| {
    if cfg!(not(target_arch = "x86_64")) {
        return None;
    }
    let host = Host::new(&mut baseline());
    host.inspect_err(|error| tracing::debug!("there is no baseline compiler: {error:#}"))
        .ok()
});

static METERED_HOSTS: Hosts = Hosts {
    pooling: LazyLock::new(|| pooling(Metering::On)),
    on_demand: LazyLock::new(|| on_demand(Metering::On)),
};

impl Hosts {
    fn with(metering: Metering) -> &'static Self {
        match metering {
            Metering::Off => &HOSTS,
            Metering::On => &METERED_HOSTS,
        }
    }
}

fn pooling(metering: Metering) -> Option<Host> {
    let host = Host::new(config(metering).allocation_strategy(pool()));
    // The system may have too few addresses.
    host.inspect_err(|error| {
        tracing::warn!("cannot reserve the pool of instances, so they start slowly: {error:#}");
    })
    .ok()
}

fn on_demand(metering: Metering) -> Option<Host> {
    let host = Host::new(&mut config(metering));
    host.inspect_err(|error| tracing::error!("cannot run WebAssembly: {error:#}"))
        .ok()
}

/// The engines for code of a quality, in the order in which a module tries them.
pub(super) fn hosts(
    module: &inspect::Module,
    metering: Metering,
    quality: Quality,
) -> impl Iterator<Item = &'static Host> + use<> {
    // In the pool, tables cannot become larger than this.
    let has_pool = quality != Quality::Baseline && module.largest_table <= ENTRIES;
    let pooling = has_pool.then(|| Hosts::with(metering).pooling.as_ref());
    let hosts = [pooling.flatten(), outside_pool(metering, quality)];
    hosts.into_iter().flatten()
}

/// The engine for instances outside the pool. It is created quickly, unlike the one with the pool.
pub(super) fn outside_pool(metering: Metering, quality: Quality) -> Option<&'static Host> {
    match (metering, quality) {
        (Metering::Off, Quality::Baseline) => BASELINE.as_ref(),
        // Baseline code would use a different amount of fuel than optimized code.
        (Metering::On, Quality::Baseline) => None,
        (_, Quality::Quick | Quality::Optimized) => Hosts::with(metering).on_demand.as_ref(),
    }
}

/// An engine that compiles. Its code fits the [`hosts`] for this quality and metering.
pub(super) fn compiler(quality: Quality, metering: Metering) -> Result<Engine> {
    if quality == Quality::Baseline {
        let host = outside_pool(metering, quality)
            .ok_or_else(|| Error::msg("there is no baseline compiler"))?;
        return Ok(host.engine.clone());
    }
    let mut config = config(metering);
    match quality {
        // Takes about half of the time.
        Quality::Quick => config
            .cranelift_opt_level(OptLevel::None)
            .cranelift_regalloc_algorithm(RegallocAlgorithm::SinglePass),
        // In the background, so calls need the other processors.
        _ => config.parallel_compilation(false),
    };
    Engine::new(&config)
}

/// Whether the instances of an engine take their memory from a pool.
#[cfg(unix)]
pub(super) fn is_pooled(engine: &Engine) -> bool {
    let pooling = [&HOSTS.pooling, &METERED_HOSTS.pooling];
    let mut hosts = pooling.into_iter().filter_map(LazyLock::get).flatten();
    hosts.any(|host| Engine::same(&host.engine, engine))
}

/// Ends the time slice of all calls that run.
pub(super) fn end_slices() {
    let [plain, metered] = [&HOSTS, &METERED_HOSTS].map(|hosts| [&hosts.pooling, &hosts.on_demand]);
    let hosts = [&BASELINE].into_iter().chain(plain).chain(metered);
    for host in hosts.filter_map(LazyLock::get).flatten() {
        host.engine.increment_epoch();
    }
}

impl Host {
    fn new(config: &mut Config) -> Result<Self> {
        let engine = Engine::new(config)?;
        let linker = functions::linker(&engine)?;
        Ok(Self { engine, linker })
    }

    /// Links a module with the functions of this host, and with others.
    pub(super) fn link(
        &self,
        module: &Module,
        functions: &[HostFunction],
    ) -> Result<InstancePre<State>> {
        if functions.is_empty() {
            return self.linker.instantiate_pre(module);
        }
        let mut linker = self.linker.clone();
        linker.allow_shadowing(true);
        for function in functions {
            function.link(&mut linker)?;
        }
        linker.instantiate_pre(module)
    }
}

fn config(metering: Metering) -> Config {
    let mut config = bounded();
    config
        .consume_fuel(metering == Metering::On)
        .wasm_tail_call(true)
        .wasm_function_references(true)
        .wasm_gc(true);
    config
}

/// The baseline compiler, Winch. It compiles in a fifth of the time, and refuses modules with some newer features.
fn baseline() -> Config {
    let mut config = bounded();
    config
        .strategy(Strategy::Winch)
        .max_wasm_stack(BASELINE_STACK)
        .async_stack_size(2 * BASELINE_STACK);
    config
}

/// Settings of all engines: calls can be stopped.
fn bounded() -> Config {
    let mut config = Config::new();
    config
        .epoch_interruption(true)
        .concurrency_support(false)
        // A call reports why it trapped. Where it was costs time to find out and space in each artifact.
        .wasm_backtrace_max_frames(None)
        .generate_address_map(false);
    config
}

fn pool() -> PoolingAllocationConfig {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_core_instances(INSTANCES)
        .total_stacks(INSTANCES)
        .total_tables(INSTANCES)
        .total_gc_heaps(INSTANCES)
        .total_memories(2 * INSTANCES)
        .max_memories_per_module(2)
        .table_elements(usize::try_from(ENTRIES).unwrap_or(usize::MAX))
        .linear_memory_keep_resident(RESIDENT)
        .pagemap_scan(Enabled::Auto)
        .table_keep_resident(RESIDENT);
    pool
}
