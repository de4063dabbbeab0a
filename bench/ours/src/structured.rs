//! One tool of one struct.

use mcp_servlet::prelude::*;

#[derive(Deserialize, Schema)]
struct Order {
    /// who orders
    customer: String,
    /// what is ordered
    items: Vec<Item>,
    /// what else to know
    note: Option<String>,
    /// whether it is urgent
    express: bool,
}

#[derive(Deserialize, Schema)]
struct Item {
    /// the name of the article
    article: String,
    /// how many of it
    quantity: u32,
}

/// Places an order.
#[tool]
fn order(#[arg(flatten)] order: Order) -> String {
    let mut text = format!("For {}:", order.customer);
    for item in &order.items {
        text += &format!(" {} × {}", item.quantity, item.article);
    }
    if let Some(note) = order.note {
        text += &format!(" ({note})");
    }
    if order.express {
        text += ", express";
    }
    text
}

mcp_servlet::export!(static SERVLET = { tools: [order] });
