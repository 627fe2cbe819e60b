import { asApiError } from "../api/errors";
import type { ApiError, ChatId, Draft } from "../api/generated";
import type { Api } from "./api";
import { Throttle } from "./debounce";
import { savedOnClose, type Leaving } from "./keptForm.svelte";

/** What a chat's composer hears from the saver of its draft. */
interface Hears {
	failed: (error: ApiError) => void;
	/** Texts that other windows have for this composer. */
	others: (drafts: Draft[]) => void;
}

/** Saves the text in the composer while the user types, or at once on request. */
export class DraftSaver {
	/** The text that is not saved yet. A failed save keeps it. */
	unsaved: string | null = null;
	/** The text that this window stored or saw last. If the engine has another one, another window wrote it. */
	known = "";
	readonly #throttle = new Throttle();
	#sending: Promise<unknown> = Promise.resolve();
	/** Saves that the engine has not answered. */
	#unanswered = 0;
	#failed = false;

	constructor(
		private readonly save: (text: string, known: string) => Promise<Draft[]>,
		public hears: Hears,
	) {}

	/** Nothing waits to be saved, and no save is on its way. */
	get idle(): boolean {
		return this.unsaved === null && this.#unanswered === 0;
	}

	/** Resolves when the saves on their way are answered, so that the engine has the newest text. */
	settled(): Promise<unknown> {
		return this.#sending;
	}

	later(text: string): void {
		this.unsaved = text;
		this.#throttle.run(() => this.now());
	}

	now(why: Leaving = "hidden"): Promise<unknown> {
		this.#throttle.cancel();
		// A page that is left has no time to wait for an earlier save.
		if (why === "left") return this.#send();
		// One after the other, because each save names the text of the one before.
		this.#sending = this.#sending.then(() => this.#send());
		return this.#sending;
	}

	async #send(): Promise<void> {
		const text = this.unsaved;
		if (text === null) return;
		this.unsaved = null;
		this.#unanswered += 1;
		try {
			const others = await this.save(text, this.known);
			this.known = text;
			this.hears.others(others);
			this.#failed = false;
		} catch (thrown) {
			this.unsaved ??= text;
			// Reports only the first failure, because every save would repeat it while the engine is unreachable.
			if (!this.#failed) this.hears.failed(asApiError(thrown));
			this.#failed = true;
		} finally {
			this.#unanswered -= 1;
		}
	}
}

const savers = new WeakMap<Api, Map<string, DraftSaver>>();

/** The saver of a chat's draft. A saver that is not idle is reused when its chat is opened again. */
export function draftSaver(api: Api, chat: ChatId, hears: Hears): DraftSaver {
	const known = savers.get(api) ?? new Map<string, DraftSaver>();
	if (!savers.has(api)) savedOnClose(api, (why) => Promise.all([...known.values()].map((saver) => saver.now(why))));
	savers.set(api, known);
	for (const [id, saver] of known) if (saver.idle) known.delete(id);
	const saver = known.get(chat) ?? new DraftSaver((text, was) => api.keepDraft(chat, text, was), hears);
	saver.hears = hears;
	known.set(chat, saver);
	return saver;
}
