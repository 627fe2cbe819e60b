import type { ModelState, SpeedTest } from "../api/generated";
import type { Api } from "./api";

/** Whether and where the local models are loaded. */
export class ModelStates {
	all = $state.raw<readonly ModelState[]>([]);
	/** Id of the model whose speed is being tested. */
	measuring = $state<string | null>(null);
	/** The last speed test of each model since the screen was opened. */
	tests = $state.raw<Readonly<Record<string, SpeedTest>>>({});

	constructor(
		private readonly api: Api,
		private readonly attempt: (action: () => Promise<unknown>) => Promise<unknown>,
	) {}

	of(id: string): ModelState | null {
		return this.all.find((state) => state.id === id) ?? null;
	}

	/** Loads the states. An effect can pass its dependencies, to load again when they change. */
	follow(..._news: unknown[]): void {
		void this.attempt(async () => (this.all = await this.api.modelStates()));
	}

	load(id: string): Promise<unknown> {
		this.#show(id, { activity: "loading" });
		return this.attempt(async () => {
			try {
				this.#put(await this.api.loadModel(id));
			} catch (thrown) {
				this.follow();
				throw thrown;
			}
		});
	}

	unload(id: string): Promise<unknown> {
		return this.attempt(async () => this.#put(await this.api.unloadModel(id)));
	}

	pickAdapter(id: string): Promise<unknown> {
		return this.attempt(async () => {
			const state = await this.api.shell.pickAdapter(id);
			if (state) this.#put(state);
		});
	}

	setWeight(id: string, path: string, weight: number): Promise<unknown> {
		return this.attempt(async () => this.#put(await this.api.setAdapterWeight(id, path, weight)));
	}

	removeAdapter(id: string, path: string): Promise<unknown> {
		return this.attempt(async () => this.#put(await this.api.removeModelAdapter(id, path)));
	}

	pickProjector(id: string): Promise<unknown> {
		return this.attempt(async () => {
			const state = await this.api.shell.pickProjector(id);
			if (state) this.#put(state);
		});
	}

	removeProjector(id: string): Promise<unknown> {
		return this.attempt(async () => this.#put(await this.api.removeModelProjector(id)));
	}

	pairProjector(id: string): Promise<unknown> {
		return this.attempt(async () => this.#put(await this.api.pairModelProjector(id)));
	}

	async measure(id: string): Promise<void> {
		if (this.measuring) return;
		this.measuring = id;
		await this.attempt(async () => (this.tests = { ...this.tests, [id]: await this.api.measureModel(id) }));
		this.measuring = null;
		this.follow();
	}

	#put(state: ModelState): void {
		this.all = this.all.map((known) => (known.id === state.id ? state : known));
	}

	#show(id: string, change: Partial<ModelState>): void {
		this.all = this.all.map((known) => (known.id === id ? { ...known, ...change } : known));
	}
}
