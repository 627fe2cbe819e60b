import type { ModelMove } from "../api/generated";
import type { Api } from "./api";

interface Callbacks {
	/** Runs an action and shows an error as a toast. */
	attempt(action: () => Promise<unknown>): Promise<void>;
}

/** Model files on their way to another folder. */
export class ModelMoves {
	all = $state.raw<readonly ModelMove[]>([]);
	/** Number of events so far. */
	#events = 0;

	constructor(
		private readonly api: Api,
		private readonly callbacks: Callbacks,
	) {}

	async load(): Promise<void> {
		const events = this.#events;
		const moves = await this.api.listModelMoves();
		// An event that came meanwhile is newer than the answer.
		if (events !== this.#events) return this.load();
		this.all = moves;
	}

	of(model: string): ModelMove | null {
		return this.all.find((move) => move.model === model) ?? null;
	}

	/** Applies an event, or an answer. */
	update(moving: ModelMove): void {
		this.#events += 1;
		const known = this.all.findIndex(({ model }) => model === moving.model);
		this.all = known < 0 ? [...this.all, moving] : this.all.with(known, moving);
	}

	ended(model: string): void {
		this.#events += 1;
		this.all = this.all.filter((move) => move.model !== model);
	}

	/** Events report the progress. */
	start = (model: string, folder: string): Promise<void> => this.callbacks.attempt(() => this.api.moveModel(model, folder));

	/** Moves all models of a folder. Those that cannot be moved are shown with the reason. */
	startAll = (from: string, folder: string): Promise<void> =>
		this.callbacks.attempt(async () => {
			const refused = (await this.api.moveModelsOfFolder(from, folder)).filter(({ state }) => state === "failed");
			refused.forEach((move) => this.update(move));
		});

	cancel = (model: string): Promise<void> =>
		this.callbacks.attempt(async () => {
			// A move that never began is only shown here.
			if ((await this.api.listModelMoves()).some((move) => move.model === model)) await this.api.cancelModelMove(model);
			else this.ended(model);
		});
}
