import type { ComputeDevices, EmbeddingModel, Model, ModelState, SpeedTest } from "../../src/lib/api/generated";

const GB = 1_000_000_000;
const BUNDLED: EmbeddingModel = { name: "all-MiniLM-L6-v2-Q8_0", path: null, hasBundled: true, missing: false, left: 0 };

/** Loaded models and devices of a machine with a graphics card of 8 GB. */
export class MockModelLoads {
	readonly devices: ComputeDevices = {
		devices: [
			{ name: "CPU", description: "AMD Ryzen 7 7840U", backend: "CPU", kind: "processor", total: 32 * GB, free: 20 * GB },
			{ name: "Vulkan0", description: "AMD Radeon RX 7600", backend: "Vulkan", kind: "discrete", total: 8 * GB, free: 7.4 * GB },
		],
		failure: null,
	};
	embedding = BUNDLED;
	readonly #states = new Map<string, Partial<ModelState>>();

	constructor(
		private readonly models: () => Model[],
		private readonly changed: () => void,
	) {
		this.#states.set("m1", this.#loaded("m1"));
	}

	all(): ModelState[] {
		return this.models().map(({ id }) => this.#of(id));
	}

	load(id: string): ModelState {
		this.#states.set(id, { ...this.#states.get(id), ...this.#loaded(id) });
		this.changed();
		return this.#of(id);
	}

	unload(id: string): ModelState {
		const { adapters, projector, readsNoPictures } = this.#of(id);
		this.#states.set(id, { adapters, projector, readsNoPictures });
		this.changed();
		return this.#of(id);
	}

	/** The first adapter is a pirate; a second one is calm. */
	pickAdapter(id: string): ModelState {
		const { adapters } = this.#of(id);
		const name = adapters.length === 0 ? "pirate-f16.gguf" : "calm-f16.gguf";
		return this.#change(id, { adapters: [...adapters, { name, path: `/home/sam/Downloads/${name}`, weight: 1, missing: false }] });
	}

	setWeight(id: string, path: string, weight: number): ModelState {
		return this.#change(id, { adapters: this.#of(id).adapters.map((one) => (one.path === path ? { ...one, weight } : one)) });
	}

	removeAdapter(id: string, path: string): ModelState {
		return this.#change(id, { adapters: this.#of(id).adapters.filter((one) => one.path !== path) });
	}

	chooseEmbedding(): EmbeddingModel {
		this.embedding = { ...BUNDLED, name: "nomic-embed-text-v1.5.Q8_0", path: "/home/sam/Downloads/nomic-embed-text-v1.5.Q8_0.gguf", left: 1_240 };
		this.changed();
		return this.embedding;
	}

	useBundledEmbedding(): EmbeddingModel {
		this.embedding = { ...BUNDLED, left: 1_240 };
		this.changed();
		return this.embedding;
	}

	pickProjector(id: string): ModelState {
		return this.#change(id, { readsNoPictures: false, projector: { name: "mmproj-other-f16.gguf", path: "/home/sam/Downloads/mmproj-other-f16.gguf", bytes: 0.8 * GB, missing: false, automatic: false } });
	}

	removeProjector(id: string): ModelState {
		return this.#change(id, { projector: null, readsNoPictures: true });
	}

	pairProjector(id: string): ModelState {
		return this.#change(id, { projector: { name: "mmproj-f16.gguf", path: "/home/sam/models/mmproj-f16.gguf", bytes: 0.8 * GB, missing: false, automatic: true }, readsNoPictures: false });
	}

	measure(): SpeedTest {
		const run = (threads: number, batch: number | null, prompt: number, reply: number, gpuLayers = 31) => ({ threads, batch, gpuLayers, prompt, reply });
		return { runs: [run(8, null, 512.4, 61.2), run(8, null, 96.3, 14.8, 0), run(4, null, 480.1, 58.9), run(8, 256, 840.7, 61)], best: 3 };
	}

	#of(id: string): ModelState {
		return { id, activity: "unloaded", context: 0, layers: 0, gpuLayers: 0, processorExperts: 0, devices: [], notes: [], adapters: [], projector: null, readsNoPictures: false, ...this.#states.get(id) };
	}

	#change(id: string, change: Partial<ModelState>): ModelState {
		this.#states.set(id, { ...this.#states.get(id), ...change });
		this.changed();
		return this.#of(id);
	}

	/** The large model does not fit the card. */
	#loaded(id: string): Partial<ModelState> {
		const small = id === "m1";
		const card = { device: "AMD Radeon RX 7600", weights: (small ? 0.1 : 6.2) * GB, cache: (small ? 0.2 : 0.6) * GB, compute: 0.3 * GB, total: 8 * GB };
		const processor = { device: "", weights: (small ? 0.03 : 8.1) * GB, cache: small ? 0 : 0.7 * GB, compute: 0.05 * GB, total: 0 };
		return {
			activity: "idle",
			context: 8192,
			layers: small ? 31 : 41,
			gpuLayers: small ? 31 : 20,
			devices: [processor, card],
			notes: small ? [] : [{ kind: "fewerLayers", from: 41, to: 20, reason: { kind: "outOfMemory" } }],
		};
	}
}
