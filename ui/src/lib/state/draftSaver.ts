import { asApiError } from "../api/errors";
import type { ApiError } from "../api/generated";
import type { Api } from "./api";
import { Debounce } from "./debounce";

/** Saves the text in the composer after a pause in typing, or at once on request. */
export class DraftSaver {
	/** The text that is not saved yet. A failed save keeps it. */
	unsaved: string | null = null;
	readonly #debounce = new Debounce();
	#failed = false;

	constructor(
		private readonly save: (text: string) => Promise<unknown>,
		public failed: (error: ApiError) => void,
	) {}

	later(text: string): void {
		this.unsaved = text;
		this.#debounce.run(() => this.now());
	}

	async now(): Promise<void> {
		this.#debounce.cancel();
		const text = this.unsaved;
		if (text === null) return;
		this.unsaved = null;
		try {
			await this.save(text);
			this.#failed = false;
		} catch (thrown) {
			this.unsaved ??= text;
			// Reports only the first failure, because every pause would repeat it while the engine is unreachable.
			if (!this.#failed) this.failed(asApiError(thrown));
			this.#failed = true;
		}
	}
}

const savers = new WeakMap<Api, Map<string, DraftSaver>>();

/** The saver of a chat's draft. A saver with unsaved text is reused when its chat is opened again. */
export function draftSaver(api: Api, chat: string, failed: (error: ApiError) => void): DraftSaver {
	const known = savers.get(api) ?? new Map<string, DraftSaver>();
	savers.set(api, known);
	for (const [id, saver] of known) if (saver.unsaved === null) known.delete(id);
	const saver = known.get(chat) ?? new DraftSaver((text) => api.saveDraft(chat, text), failed);
	saver.failed = failed;
	known.set(chat, saver);
	return saver;
}
