/** The drop position: before or after the row with this id. */
export interface DropPosition {
	id: string;
	after: boolean;
}

/** Distance from the edge of the scroll container, in pixels, within which a dragged row scrolls it. */
const EDGE = 48;
/** Scroll speed there, in pixels per frame. */
const PACE = 9;

/**
 * Reorders rows of a list that the user drags by a handle. It uses pointer events, because HTML drag and drop is
 * reserved for files dropped on the window. Rows have their ids in `data-entry`. Rows move only on release.
 */
export class DragOrder {
	/** Id of the dragged row. */
	moving = $state<string | null>(null);
	landing = $state.raw<DropPosition | null>(null);
	#rows: HTMLElement | null = null;
	#y = 0;
	#frame = 0;

	/** `drop` moves a row to the position where it was released. */
	constructor(private readonly drop: (id: string, landing: DropPosition) => Promise<void>) {}

	start(event: PointerEvent & { currentTarget: HTMLElement }, rows: HTMLElement, id: string): void {
		if (event.button !== 0 || this.moving !== null) return;
		// Prevents text selection during the drag; pointer capture keeps events coming to the handle.
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
		// The drop mark stays until the row has moved.
		if (id !== null && landing) await this.drop(id, landing);
		this.cancel();
	};

	cancel = (): void => {
		cancelAnimationFrame(this.#frame);
		[this.moving, this.landing, this.#rows] = [null, null, null];
	};

	/** Finds the row under the pointer. Above the first or below the last row, uses that row. */
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
