import { Debounce } from "./debounce";

const LIMIT = 200;
/** Changes within this time are one undo step. */
const PAUSE_MS = 600;

/** Undo and redo through text versions of something. */
export class History {
	#past = $state.raw<readonly string[]>([]);
	#future = $state.raw<readonly string[]>([]);
	#now = "";
	#about = "";
	/** A version that is not a step of its own yet. */
	#pending = $state<string | null>(null);
	readonly #debounce = new Debounce(PAUSE_MS);
	readonly canUndo = $derived(this.#past.length > 0 || this.#pending !== null);
	readonly canRedo = $derived(this.#future.length > 0 && this.#pending === null);

	/** Starts a new history at `version`. */
	begin(version: string): void {
		this.#debounce.cancel();
		[this.#past, this.#future, this.#now, this.#pending] = [[], [], version, null];
	}

	/** Records the current version. A change of another `about` starts a new step. */
	note(version: string, about = ""): void {
		if (version === (this.#pending ?? this.#now)) return;
		if (about !== this.#about) this.#settle();
		this.#about = about;
		this.#pending = version === this.#now ? null : version;
		this.#debounce.run(() => this.#settle());
	}

	/** The previous version; `null` if there is none. */
	undo(): string | null {
		this.#settle();
		const before = this.#past.at(-1);
		if (before === undefined) return null;
		[this.#past, this.#future, this.#now] = [this.#past.slice(0, -1), [this.#now, ...this.#future], before];
		return before;
	}

	redo(): string | null {
		this.#settle();
		const [next, ...later] = this.#future;
		if (next === undefined) return null;
		[this.#past, this.#future, this.#now] = [[...this.#past, this.#now], later, next];
		return next;
	}

	#settle(): void {
		this.#debounce.cancel();
		if (this.#pending === null) return;
		[this.#past, this.#future, this.#now, this.#pending] = [[...this.#past, this.#now].slice(-LIMIT), [], this.#pending, null];
	}
}
