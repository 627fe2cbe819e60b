/** Between which rows a row would land: before the row `id`, or after it. */
export interface Landing {
	id: string;
	after: boolean;
}

/** So near to an edge of what scrolls, a row under way scrolls it; in pixels. */
const EDGE = 48;
/** Pixels that it scrolls for each frame there. */
const PACE = 9;

/**
 * Rows of a list that are dragged by a handle to another place. By pointer events, because the window keeps HTML's own drags for
 * files that are dropped on it. Rows carry their ids in `data-entry`; nothing moves before the pointer lets go.
 */
export class DragOrder {
	/** The row under way. */
	moving = $state<string | null>(null);
	landing = $state.raw<Landing | null>(null);
	#rows: HTMLElement | null = null;
	#y = 0;
	#frame = 0;

	/** `drop` puts a row where it was let go. */
	constructor(private readonly drop: (id: string, landing: Landing) => Promise<void>) {}

	start(event: PointerEvent & { currentTarget: HTMLElement }, rows: HTMLElement, id: string): void {
		if (event.button !== 0 || this.moving !== null) return;
		// No text is selected on the way, and the handle keeps the pointer wherever it goes.
		event.preventDefault();
		event.currentTarget.focus();
		event.currentTarget.setPointerCapture(event.pointerId);
		[this.moving, this.#rows, this.#y] = [id, rows, event.clientY];
		this.#frame = requestAnimationFrame(this.#scroll);
	}

	move = (event: PointerEvent): void => {
		if (this.moving === null) return;
		this.#y = event.clientY;
		this.#look();
	};

	end = async (): Promise<void> => {
		const [id, landing] = [this.moving, this.landing];
		cancelAnimationFrame(this.#frame);
		// The mark stays until the row is there.
		if (id !== null && landing) await this.drop(id, landing);
		this.cancel();
	};

	cancel = (): void => {
		cancelAnimationFrame(this.#frame);
		[this.moving, this.landing, this.#rows] = [null, null, null];
	};

	/** The row below the pointer; above the first and below the last one, these. */
	#look(): void {
		const rows = [...(this.#rows?.querySelectorAll<HTMLElement>("[data-entry]") ?? [])];
		const row = rows.find((one) => one.getBoundingClientRect().bottom > this.#y) ?? rows.at(-1);
		const id = row?.dataset["entry"];
		if (!row || id === undefined) return;
		const { top, height } = row.getBoundingClientRect();
		this.landing = id === this.moving ? null : { id, after: this.#y > top + height / 2 };
	}

	#scroll = (): void => {
		const pane = this.#rows?.closest(".tab-content");
		if (this.moving === null || !pane) return;
		const { top, bottom } = pane.getBoundingClientRect();
		const before = pane.scrollTop;
		if (this.#y < top + EDGE) pane.scrollTop -= PACE;
		if (this.#y > bottom - EDGE) pane.scrollTop += PACE;
		if (pane.scrollTop !== before) this.#look();
		this.#frame = requestAnimationFrame(this.#scroll);
	};
}
