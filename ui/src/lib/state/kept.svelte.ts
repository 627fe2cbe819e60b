import { asApiError } from "../api/errors";
import type { ApiError } from "../api/generated";

/** What the engine keeps and a screen changes piece by piece. What is refused is told and changes nothing. */
export class Kept<All> {
	all = $state.raw<All | null>(null);
	failure = $state.raw<ApiError | null>(null);
	#sending: Promise<unknown> = Promise.resolve();
	#asked = 0;

	constructor(
		private readonly read: () => Promise<All>,
		private readonly failed: (error: ApiError) => void,
	) {}

	load = async (): Promise<void> => {
		const asked = ++this.#asked;
		try {
			const all = await this.read();
			if (asked === this.#asked) [this.all, this.failure] = [all, null];
		} catch (thrown) {
			if (asked === this.#asked) this.failure = asApiError(thrown);
		}
	};

	/** Loads now, and for an effect again with whatever it is given. */
	follow(..._news: unknown[]): void {
		void this.load();
	}

	/** Sends a change, which answers with all that is kept then; `done` hears that it was taken. */
	protected send(change: () => Promise<All>, done: () => void = () => {}): Promise<unknown> {
		// One after the other: of two quick changes the second must win.
		this.#sending = this.#sending
			.then(change)
			.then((all) => {
				this.#asked++;
				this.all = all;
				done();
			})
			.catch((thrown: unknown) => {
				this.failed(asApiError(thrown));
				// What the control shows is not what is stored.
				return this.load();
			});
		return this.#sending;
	}
}
