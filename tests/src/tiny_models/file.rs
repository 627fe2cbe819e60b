//! Writes a GGUF file.

const F32: u32 = 0;
const ALIGNMENT: usize = 32;

/// The keys and tensors of a file, and the state of the random numbers.
pub(super) struct TinyModel {
    pub(super) architecture: String,
    pub(super) keys: Vec<u8>,
    pub(super) key_count: u64,
    pub(super) tensors: Vec<(String, Vec<u64>, Vec<f32>)>,
    pub(super) random: u64,
}

impl TinyModel {
    /// A file with a name and nothing else.
    pub(super) fn empty(architecture: &str) -> Self {
        let (architecture, keys) = (architecture.to_owned(), Vec::new());
        let mut model = Self {
            architecture,
            keys,
            key_count: 0,
            tensors: Vec::new(),
            random: 0x1234_5678_9abc_def1,
        };
        model.text("general.architecture", &model.architecture.clone());
        model.text("general.name", &format!("tiny {}", model.architecture));
        model
    }

    /// Adds a tensor whose products with a normalized vector have about the size `scale`.
    pub(super) fn tensor(&mut self, name: &str, dims: &[u64], scale: f32) {
        let count: u64 = dims.iter().product();
        let spread = if dims.len() > 1 {
            scale * (3.0 / dims[0] as f32).sqrt()
        } else {
            scale
        };
        let values = (0..count).map(|_| self.draw() * spread).collect();
        self.tensor_of(name.to_owned(), dims.to_vec(), values);
    }

    pub(super) fn tensor_of(&mut self, name: String, dims: Vec<u64>, values: Vec<f32>) {
        self.tensors.push((name, dims, values));
    }

    /// Sets every weight to zero, except those of norms.
    pub(super) fn clear(&mut self) {
        for (name, _, values) in &mut self.tensors {
            if !name.contains("norm") && !name.contains(".ln") || name.ends_with(".bias") {
                values.fill(0.0);
            }
        }
    }

    /// Sets one weight of a matrix: how much of the number `from` goes into the number `to`.
    ///
    /// # Panics
    /// There is no such weight.
    pub(super) fn set(&mut self, name: &str, from: u64, to: u64, weight: f32) {
        let (_, dims, values) = self
            .tensors
            .iter_mut()
            .find(|(known, ..)| known == name)
            .expect("the tensor exists");
        let columns: u64 = dims[..dims.len() - 1].iter().product();
        assert!(from < columns, "{name} has {columns} columns");
        values[(to * columns + from) as usize] = weight;
    }

    /// A number from -1 to 1 (xorshift64).
    pub(super) fn draw(&mut self) -> f32 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }

    pub(super) fn key(&mut self, key: &str, kind: u32) {
        put_text(&mut self.keys, key);
        self.keys.extend(kind.to_le_bytes());
        self.key_count += 1;
    }

    pub(super) fn array_head(&mut self, kind: u32, length: usize) {
        self.keys.extend(kind.to_le_bytes());
        self.keys.extend((length as u64).to_le_bytes());
    }

    pub(super) fn text(&mut self, key: &str, value: &str) {
        self.key(key, 8);
        put_text(&mut self.keys, value);
    }

    /// A key of this architecture.
    pub(super) fn number(&mut self, key: &str, value: u32) {
        self.key(&format!("{}.{key}", self.architecture), 4);
        self.keys.extend(value.to_le_bytes());
    }

    pub(super) fn numbers(&mut self, key: &str, values: &[i32]) {
        self.key(&format!("{}.{key}", self.architecture), 9);
        self.array_head(5, values.len());
        self.keys
            .extend(values.iter().flat_map(|value| value.to_le_bytes()));
    }

    pub(super) fn real(&mut self, key: &str, value: f32) {
        self.key(&format!("{}.{key}", self.architecture), 6);
        self.keys.extend(value.to_le_bytes());
    }

    pub(super) fn file(self) -> Vec<u8> {
        let mut file = b"GGUF".to_vec();
        file.extend(3u32.to_le_bytes());
        file.extend((self.tensors.len() as u64).to_le_bytes());
        file.extend(self.key_count.to_le_bytes());
        file.extend(&self.keys);
        let mut offset = 0;
        for (name, dims, values) in &self.tensors {
            put_text(&mut file, name);
            file.extend((dims.len() as u32).to_le_bytes());
            file.extend(dims.iter().flat_map(|dim| dim.to_le_bytes()));
            file.extend(F32.to_le_bytes());
            file.extend((offset as u64).to_le_bytes());
            offset += (values.len() * 4).next_multiple_of(ALIGNMENT);
        }
        for (_, _, values) in &self.tensors {
            file.resize(file.len().next_multiple_of(ALIGNMENT), 0);
            file.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        }
        file
    }
}

pub(super) fn put_text(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend((text.len() as u64).to_le_bytes());
    bytes.extend(text.as_bytes());
}
