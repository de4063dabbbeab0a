//! Reads an image with the library of wkg: `with_oci_wasm IMAGE FILE`. Its one layer must have the bytes of the file.

use std::{env, fs};

use anyhow::{Context, ensure};
use oci_client::{Client, Reference, client::ClientConfig, secrets::RegistryAuth};
use oci_wasm::WasmClient;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut arguments = env::args().skip(1);
    let mut next = || arguments.next().context("expected IMAGE FILE");
    let (image, file): (Reference, _) = (next()?.parse()?, next()?);
    let client = WasmClient::new(Client::new(ClientConfig::default()));
    let found = client.pull(&image, &RegistryAuth::Anonymous).await?;
    let [layer] = &*found.layers else {
        anyhow::bail!("expected one layer, found {}", found.layers.len());
    };
    ensure!(
        layer.data == fs::read(&file)?,
        "the layer differs from {file}"
    );
    let (_, config, _) = client
        .pull_manifest_and_config(&image, &RegistryAuth::Anonymous)
        .await?;
    ensure!(
        config.layer_digests == [layer.sha256_digest()],
        "the configuration names other layers: {:?}",
        config.layer_digests
    );
    println!("works: oci-wasm reads the image");
    Ok(())
}
