import type { ComputeDevices, Model, ModelState, SpeedTest } from "../../src/lib/api/generated";

const GB = 1_000_000_000;

/** Loaded models and devices of a machine with a graphics card of 8 GB. */
export class MockModelLoads {
	readonly devices: ComputeDevices = {
		devices: [
			{ name: "CPU", description: "AMD Ryzen 7 7840U", backend: "CPU", kind: "processor", total: 32 * GB, free: 20 * GB },
			{ name: "Vulkan0", description: "AMD Radeon RX 7600", backend: "Vulkan", kind: "discrete", total: 8 * GB, free: 7.4 * GB },
		],
		failure: null,
	};
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
		const { adapter, projector, readsNoPictures } = this.#of(id);
		this.#states.set(id, { adapter, projector, readsNoPictures });
		this.changed();
		return this.#of(id);
	}

	pickAdapter(id: string): ModelState {
		return this.#change(id, { adapter: { name: "pirate-f16.gguf", path: "/home/sam/Downloads/pirate-f16.gguf", weight: 1, missing: false } });
	}

	setWeight(id: string, weight: number): ModelState {
		const { adapter } = this.#of(id);
		return this.#change(id, { adapter: adapter && { ...adapter, weight } });
	}

	removeAdapter(id: string): ModelState {
		return this.#change(id, { adapter: null });
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
		const run = (threads: number, batch: number | null, prompt: number, reply: number) => ({ threads, batch, gpuLayers: 31, prompt, reply });
		return { runs: [run(8, null, 512.4, 61.2), run(4, null, 480.1, 58.9), run(8, 256, 840.7, 61)], best: 2 };
	}

	#of(id: string): ModelState {
		return { id, activity: "unloaded", context: 0, layers: 0, gpuLayers: 0, devices: [], notes: [], adapter: null, projector: null, readsNoPictures: false, ...this.#states.get(id) };
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
			notes: small ? [] : [{ kind: "fewerLayers", from: 41, to: 20, why: "a context of 8192 tokens does not fit into memory" }],
		};
	}
}
