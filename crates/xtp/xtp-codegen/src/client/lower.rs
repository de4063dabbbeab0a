//! Lowers the schemas of tools and prompts to types, with the names that are free.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::Warning;
use super::walk::{Name, Walk};
use crate::ir::{Item, Kind, Module, Names, Type, TypeDef, TypeId};
use crate::lower::recursion::targets;
use crate::names::{Taken, type_source};

/// The types of a client.
pub(super) struct Lowering {
    /// Indexed by id; every entry is filled in the end.
    pub(super) types: Vec<Option<TypeDef>>,
    pub(super) order: Vec<TypeId>,
    pub(super) taken: Taken,
    /// The types of schemas, by where they can be used again and their text.
    pub(super) known: BTreeMap<String, TypeId>,
    warnings: Vec<Warning>,
    inputs: Vec<TypeId>,
    outputs: Vec<TypeId>,
}

/// In which direction a type is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Uses {
    pub(super) input: bool,
    pub(super) output: bool,
}

/// A schema that a tool or a prompt has.
pub(super) struct Root<'s> {
    /// The item, for warnings.
    pub(super) item: String,
    /// The JSON pointer of the schema in the entry of the item.
    pub(super) pointer: &'static str,
    pub(super) schema: &'s Value,
    /// The name of its type, which is taken, before it is changed because the prelude has it.
    pub(super) name: String,
    pub(super) docs: String,
}

impl Lowering {
    pub(super) fn new(client: &str) -> Self {
        let mut taken = Taken::default();
        // `C` is the parameter of the client.
        for name in [client, "Resources", "Prompts", "C"] {
            taken.take(name);
        }
        Self {
            types: Vec::new(),
            order: Vec::new(),
            taken,
            known: BTreeMap::new(),
            warnings: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
        }
    }

    /// A name for the type of a root, before it is changed because the prelude has it.
    pub(super) fn claim(&mut self, name: &str) -> String {
        self.taken.take(name)
    }

    pub(super) fn warn(&mut self, item: &str, pointer: String, message: String) {
        let warning = Warning {
            item: item.to_owned(),
            pointer,
            message,
        };
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// The type of arguments; `None` if there are none.
    pub(super) fn input(&mut self, root: &Root<'_>) -> Option<String> {
        if has_no_members(root.schema) {
            return None;
        }
        let ty =
            Walk::new(self, root).item(root.schema, root.pointer, &Name::Root(root.name.clone()));
        // Arguments are an object, whatever the schema says.
        let ty = if ty.ty == Type::Any {
            Type::FreeForm
        } else {
            ty.ty
        };
        let id = self.named(
            root,
            Item {
                ty,
                nullable: false,
            },
        );
        self.inputs.push(id);
        Some(type_source(&root.name))
    }

    /// The type of a result.
    pub(super) fn output(&mut self, root: &Root<'_>, wrapped: bool) -> String {
        let value = root.schema.pointer("/properties/result");
        let name = Name::Root(root.name.clone());
        let mut walk = Walk::new(self, root);
        let item = match value.filter(|_| wrapped) {
            Some(value) => walk.item(value, &format!("{}/properties/result", root.pointer), &name),
            None => walk.item(root.schema, root.pointer, &name),
        };
        let id = self.named(root, item);
        self.outputs.push(id);
        type_source(&root.name)
    }

    /// The type with the name of the root: what the root has become, or an alias for it.
    fn named(&mut self, root: &Root<'_>, item: Item) -> TypeId {
        if let Type::Named(id) = item.ty
            && !item.nullable
            && let Some(Some(def)) = self.types.get_mut(id.0)
            && def.name.rust == type_source(&root.name)
        {
            let docs = [root.docs.clone()].into_iter().chain(def.docs.take());
            def.docs = Some(docs.collect::<Vec<_>>().join("\n\n"));
            return id;
        }
        let id = TypeId(self.types.len());
        self.order.push(id);
        self.types.push(Some(TypeDef {
            name: both(type_source(&root.name)),
            docs: Some(root.docs.clone()),
            kind: Kind::Alias(item),
        }));
        id
    }

    /// All types, how each is used, and the warnings.
    pub(super) fn finish(self) -> (Module, Vec<Uses>, Vec<Warning>) {
        let module = Module {
            types: self.types.into_iter().flatten().collect(),
            order: self.order,
            exports: Vec::new(),
            imports: Vec::new(),
        };
        let mut uses = vec![Uses::default(); module.types.len()];
        for id in reached(&module, self.inputs) {
            uses[id].input = true;
        }
        for id in reached(&module, self.outputs) {
            uses[id].output = true;
        }
        (module, uses, self.warnings)
    }
}

/// Whether a schema of arguments allows no member.
fn has_no_members(schema: &Value) -> bool {
    let is_empty = |key: &str| match schema.get(key) {
        None | Some(Value::Bool(false)) => true,
        Some(Value::Object(members)) => key == "properties" && members.is_empty(),
        Some(_) => false,
    };
    let forms = ["$ref", "allOf", "anyOf", "oneOf", "required"];
    schema.is_object()
        && is_empty("properties")
        && is_empty("additionalProperties")
        && !forms.iter().any(|key| schema.get(key).is_some())
}

/// A name that is the same in JSON and in Rust.
pub(super) fn both(name: String) -> Names {
    Names {
        wire: name.clone(),
        rust: name,
    }
}

/// The types that these types consist of, at any depth.
fn reached(module: &Module, mut open: Vec<TypeId>) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    while let Some(id) = open.pop() {
        if !reached.insert(id.0) {
            continue;
        }
        let targets = targets(&module.get(id).kind).into_iter();
        open.extend(targets.map(|(id, _)| id));
    }
    reached
}
