//! The engines of wasmtime.

use std::sync::LazyLock;

use wasmtime::{
    Config, Enabled, Engine, InstancePre, Linker, Module, OptLevel, PoolingAllocationConfig,
    RegallocAlgorithm, Result,
};

use super::{HostFunction, artifact::Quality};
use crate::{functions, inspect, state::State};

/// How many instances the process can have. Each reserves 8 GiB of address space, but no memory.
const INSTANCES: u32 = 10_000;

/// How many entries a table in the pool can have.
const ENTRIES: u64 = 100_000;

/// Memory that an instance leaves in its place for the next one. Only the pages that it wrote are cleared, which costs less
/// than returning them.
const RESIDENT: usize = 4 << 20;

/// An engine, and the functions that modules import.
pub(super) struct Host {
    pub(super) engine: Engine,
    linker: Linker<State>,
}

/// Its instances take their memory from a pool. `None` if the system has too few addresses for it.
static POOLING: LazyLock<Option<Host>> = LazyLock::new(|| {
    let host = Host::new(config().allocation_strategy(pool()));
    host.inspect_err(|error| {
        tracing::warn!("cannot reserve the pool of instances, so they start slowly: {error:#}");
    })
    .ok()
});

/// For modules that do not fit into the pool, for example with several memories.
static ON_DEMAND: LazyLock<Option<Host>> = LazyLock::new(|| {
    let host = Host::new(&mut config());
    host.inspect_err(|error| tracing::error!("cannot run WebAssembly: {error:#}"))
        .ok()
});

/// The engines, in the order in which a module tries them.
pub(super) fn hosts(module: &inspect::Module) -> impl Iterator<Item = &'static Host> + use<> {
    // In the pool, tables cannot become larger than this.
    let skipped = usize::from(module.largest_table > ENTRIES);
    let hosts = [&POOLING, &ON_DEMAND].into_iter().skip(skipped);
    hosts.filter_map(|host| LazyLock::force(host).as_ref())
}

/// An engine that compiles. Its code fits the other engines.
pub(super) fn compiler(quality: Quality) -> Result<Engine> {
    let mut config = config();
    match quality {
        // Takes about half of the time.
        Quality::Quick => config
            .cranelift_opt_level(OptLevel::None)
            .cranelift_regalloc_algorithm(RegallocAlgorithm::SinglePass),
        // In the background, so calls need the other processors.
        Quality::Optimized => config.parallel_compilation(false),
    };
    Engine::new(&config)
}

/// Ends the time slice of all calls that run.
pub(super) fn end_slices() {
    for host in [&POOLING, &ON_DEMAND]
        .into_iter()
        .filter_map(LazyLock::get)
        .flatten()
    {
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

fn config() -> Config {
    let mut config = Config::new();
    config
        .epoch_interruption(true)
        .concurrency_support(false)
        .wasm_tail_call(true)
        .wasm_function_references(true)
        .wasm_gc(true)
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
