/** Milliseconds until a tooltip appears under the pointer. */
const DELAY = 400;
/** Within this time after a tooltip, in milliseconds, the next one appears at once. */
const SOON = 200;

/** Decides which element shows its tooltip. */
export class TooltipState {
	/** The element whose tooltip is shown. */
	anchor = $state<HTMLElement | null>(null);

	#awaited: HTMLElement | null = null;
	#timer: ReturnType<typeof setTimeout> | undefined;
	#hiddenAt = -Infinity;

	get text(): string {
		return this.anchor?.dataset.tooltip || this.anchor?.ariaLabel || "";
	}

	/** The pointer is over another element. A finger has no tooltips. */
	pointed({ target, pointerType }: PointerEvent) {
		const anchor = anchorOf(target);
		if (anchor === (this.#awaited ?? this.anchor)) return;
		this.hide();
		if (!anchor || pointerType === "touch") return;
		this.#awaited = anchor;
		this.#timer = setTimeout(() => this.#show(anchor), performance.now() - this.#hiddenAt < SOON ? 0 : DELAY);
	}

	/** The focus came by keyboard to another element. */
	focused({ target }: FocusEvent) {
		const anchor = anchorOf(target);
		if (anchor?.matches(":focus-visible")) this.#show(anchor);
	}

	hide() {
		clearTimeout(this.#timer);
		this.#awaited = null;
		if (this.anchor) this.#hiddenAt = performance.now();
		this.anchor = null;
	}

	#show(anchor: HTMLElement) {
		clearTimeout(this.#timer);
		this.#awaited = null;
		this.anchor = anchor.isConnected ? anchor : null;
	}
}

function anchorOf(target: EventTarget | null): HTMLElement | null {
	return target instanceof Element ? target.closest<HTMLElement>("[data-tooltip]") : null;
}
