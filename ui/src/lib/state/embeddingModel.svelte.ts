import type { EmbeddingModel } from "../api/generated";
import type { Api } from "./api";

/** The model for search by meaning. */
export class EmbeddingModelState {
	model = $state.raw<EmbeddingModel | null>(null);
	/** A file is being checked, which can take a while. */
	choosing = $state(false);

	constructor(
		private readonly api: Api,
		private readonly attempt: (action: () => Promise<unknown>) => Promise<unknown>,
	) {}

	/** Loads the choice. An effect can pass its dependencies, to load again when they change. */
	follow(..._news: unknown[]): void {
		void this.attempt(async () => (this.model = await this.api.embeddingChoice()));
	}

	choose = (): Promise<void> => this.#change(async () => (await this.api.shell.pickEmbeddingModel()) ?? this.model);

	useBundled = (): Promise<void> => this.#change(() => this.api.useBundledEmbeddingModel());

	async #change(change: () => Promise<EmbeddingModel | null>): Promise<void> {
		this.choosing = true;
		await this.attempt(async () => (this.model = await change()));
		this.choosing = false;
	}
}
