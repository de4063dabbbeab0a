//! Searches a small catalogue: structs and enums as arguments, defaults, configuration.

use mcp_servlet::prelude::*;

/// What is on sale.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, Schema)]
#[serde(rename_all = "lowercase")]
enum Category {
    /// things to read
    Book,
    /// things to play
    Game,
    /// things to wear
    Clothing,
}

/// The order of the results.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Schema)]
#[serde(rename_all = "snake_case")]
enum SortBy {
    /// by name, from A to Z
    #[default]
    Name,
    /// the cheapest first
    LowestPrice,
}

/// A range of prices, in cents.
#[derive(Debug, Clone, Copy, Deserialize, Schema)]
struct PriceRange {
    /// the lowest price
    from: Option<u32>,
    /// the highest price
    to: Option<u32>,
}

impl PriceRange {
    fn contains(self, price: u32) -> bool {
        self.from.is_none_or(|from| price >= from) && self.to.is_none_or(|to| price <= to)
    }
}

/// One thing on sale.
#[derive(Debug, Clone, PartialEq, Serialize, Schema)]
struct Item {
    /// the article number
    id: u32,
    /// the name
    name: &'static str,
    /// the kind of item
    category: Category,
    /// the price in cents
    price: u32,
}

const ITEMS: &[Item] = &[
    Item {
        id: 1,
        name: "Atlas",
        category: Category::Book,
        price: 4_500,
    },
    Item {
        id: 2,
        name: "Backgammon",
        category: Category::Game,
        price: 2_900,
    },
    Item {
        id: 3,
        name: "Cap",
        category: Category::Clothing,
        price: 1_500,
    },
    Item {
        id: 4,
        name: "Dictionary",
        category: Category::Book,
        price: 3_200,
    },
];

/// What a search found.
#[derive(Debug, PartialEq, Serialize, Schema)]
struct Found {
    /// the items, up to the limit
    items: Vec<Item>,
    /// how many there are in all
    total: usize,
}

/// Searches the catalogue.
#[tool(read_only, open_world = false)]
fn search(
    /// only items whose name has this in it, in any case
    #[arg(default_str = "", example = "atlas")]
    text: String,
    /// only items of these kinds
    categories: Option<Vec<Category>>,
    /// only items in this range
    price: Option<PriceRange>,
    /// the order of the results
    #[arg(default)]
    sort_by: SortBy,
    /// the most items to return
    #[arg(default = 10, min = 1, max = 100)]
    limit: u8,
) -> Json<Found> {
    let text = text.to_lowercase();
    let mut items: Vec<_> = ITEMS
        .iter()
        .filter(|item| item.name.to_lowercase().contains(&text))
        .filter(|item| {
            categories
                .as_ref()
                .is_none_or(|some| some.contains(&item.category))
        })
        .filter(|item| price.is_none_or(|range| range.contains(item.price)))
        .cloned()
        .collect();
    match sort_by {
        SortBy::Name => items.sort_by_key(|item| item.name),
        SortBy::LowestPrice => items.sort_by_key(|item| item.price),
    }
    let total = items.len();
    items.truncate(usize::from(limit));
    Json(Found { items, total })
}

/// What to order.
#[derive(Debug, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
struct Order {
    /// the article number
    item_id: u32,
    /// how many
    quantity: u32,
    /// where to bring it
    delivery: Delivery,
}

/// How the order arrives.
#[derive(Debug, Deserialize, Schema)]
#[serde(tag = "method", rename_all = "snake_case")]
enum Delivery {
    /// Fetched in a shop.
    Pickup {
        /// the shop's number
        shop: u8,
    },
    /// Sent home.
    Parcel {
        /// the address
        address: String,
    },
}

/// Says what an order would cost. The currency is the configuration value `currency`, or EUR.
#[tool(read_only, open_world = false)]
fn quote(context: &Context, #[arg(flatten)] order: Order) -> Result<String, ToolError> {
    let item = ITEMS
        .iter()
        .find(|item| item.id == order.item_id)
        .ok_or_else(|| ToolError::new(format!("there is no item {}", order.item_id)))?;
    let (shipping, by) = match order.delivery {
        Delivery::Pickup { shop } => (0, format!("at shop {shop}")),
        Delivery::Parcel { address } => (500, format!("by parcel to {address}")),
    };
    let price = u64::from(item.price) * u64::from(order.quantity) + shipping;
    let currency = context
        .config_value("currency")
        .unwrap_or_else(|| "EUR".to_owned());
    let (whole, cents) = (price / 100, price % 100);
    Ok(format!(
        "{} × {}, {by}: {whole}.{cents:02} {currency}",
        order.quantity, item.name
    ))
}

mcp_servlet::export!(static SERVLET = { tools: [search, quote] });

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::SERVLET;

    fn found(arguments: Value) -> Value {
        let result = SERVLET.call("search", arguments).unwrap();
        serde_json::from_str(&result.text()).unwrap()
    }

    #[test]
    fn finds_everything_without_arguments() {
        let found = found(json!({}));
        assert_eq!(found["total"], 4);
        assert_eq!(found["items"][0]["name"], "Atlas");
    }

    #[test]
    fn filters_sorts_and_limits() {
        let found = found(json!({
            "categories": ["book", "game"],
            "price": { "to": 4000 },
            "sort_by": "lowest_price",
            "limit": 1,
        }));
        assert_eq!(found["total"], 2);
        assert_eq!(found["items"][0]["name"], "Backgammon");
    }

    #[test]
    fn error_has_the_pointer_of_a_nested_invalid_value() {
        let result = SERVLET
            .call("search", json!({ "categories": ["book", "car"] }))
            .unwrap();
        let text = result.text();
        assert!(
            text.starts_with("invalid arguments: `/categories/1` must match {\"type\":\"string\""),
            "{text}"
        );
        assert!(
            text.contains("\"enum\":[\"book\",\"game\",\"clothing\"]}, got \"car\"\n"),
            "{text}"
        );
    }

    #[test]
    fn quotes_in_the_configured_currency() {
        let order = json!({
            "itemId": 2,
            "quantity": 3,
            "delivery": { "method": "parcel", "address": "1 Main Street" },
        });
        let client = SERVLET.client().with_config("currency", "CHF");
        let result = client.call("quote", order).unwrap();
        assert_eq!(
            result.text(),
            "3 × Backgammon, by parcel to 1 Main Street: 92.00 CHF"
        );
    }

    #[test]
    fn refuses_an_unknown_field_of_an_order() {
        let result = SERVLET
            .call("quote", json!({ "itemId": 2, "qty": 3 }))
            .unwrap();
        assert_eq!(
            result.text(),
            concat!(
                "invalid arguments: `/qty` is unknown; known are `itemId`, `quantity`, `delivery`\n",
                r#"valid arguments: {"itemId":1,"quantity":1,"delivery":{"method":"pickup","shop":1}}"#,
            )
        );
    }
}
