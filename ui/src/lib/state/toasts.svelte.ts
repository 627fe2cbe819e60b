import { headline, hint } from "../api/errors";
import type { ApiError } from "../api/generated";
import type { Topic } from "../help/pages";
import { errorTopic } from "../help/topics";

export interface Toast {
	id: number;
	kind: "news" | "bad";
	text: string;
	detail?: string;
	action?: { label: string; run: () => void; undo?: boolean };
	/** A help page about it. */
	topic?: Topic;
	/** The kind of the error that it reports. */
	error?: ApiError["kind"];
}

const SHOWN_MS = 8_000;

/** Toasts: short notices, some with an undo button. */
export class Toasts {
	items = $state.raw<Toast[]>([]);
	#next = 1;

	show(toast: Omit<Toast, "id">, ms = SHOWN_MS): number {
		const id = this.#next++;
		this.items = [...this.items.slice(-3), { ...toast, id }];
		if (Number.isFinite(ms)) setTimeout(() => this.dismiss(id), ms);
		return id;
	}

	/** Shows an error for which the screen has no better place. */
	fail(error: ApiError): void {
		const detail = [error.message, hint(error)].filter(Boolean).join(" ");
		this.show({ kind: "bad", text: headline(error), detail, topic: errorTopic(error), error: error.kind }, SHOWN_MS * 2);
	}

	dismiss(id: number): void {
		this.items = this.items.filter((toast) => toast.id !== id);
	}
}
