import { SvelteMap } from "svelte/reactivity";
import { asApiError } from "../api/errors";
import type { ApiError, Draft, DraftKind, DraftPlace } from "../api/generated";
import type { Api } from "./api";
import { Throttle } from "./debounce";

/**
 * A text that the form could show instead of the one it shows.
 *
 * - `restored`: the stored value. The form shows a draft.
 * - `newer`: the stored value, which changed while the form was open.
 * - `older`: a draft that was typed before the stored value changed. The form shows the stored value.
 * - `other`: a draft of another window.
 */
export interface DraftNotice {
	kind: "restored" | "newer" | "older" | "other";
	text: string;
	/** Id of the draft; empty for the stored value. */
	id: string;
}

/** Why everything is saved: the app closes, the page is left (which ends its requests), or the page is hidden. */
export type Leaving = "closing" | "left" | "hidden";

/**
 * Keeps what is typed in a form as a draft in the engine, until the form is saved.
 *
 * - The draft is saved at most 200 ms after a change, even if the user types on, or at once when the page is about to
 *   close.
 * - A text that does not differ from the stored value has no draft.
 * - Windows do not replace each other's drafts. The one that saves later says so.
 */
export class KeptForm {
	notice = $state.raw<DraftNotice | null>(null);
	readonly #throttle = new Throttle();
	/** The stored value, in the form of a draft. */
	#stored = "";
	#shown = "";
	/** The text that is not saved as a draft yet. A failed save keeps it. */
	#unsaved: string | null = null;
	/** The draft that this window stored last. */
	#id: string | null = null;
	/** The draft of another window that the user has been told of. */
	#known = "";
	#sending: Promise<unknown> = Promise.resolve();
	#failed = false;

	constructor(
		private readonly api: Api,
		readonly place: DraftPlace,
		/** Shows a text in the form. */
		public show: (text: string) => void,
		private readonly failed: (error: ApiError) => void,
	) {}

	/** Called when the form opens without reading drafts. `stored` is the value that it would show without a draft. */
	opened(stored: string): void {
		this.#stored = stored;
		if (this.#id === null && this.#unsaved === null) this.#shown = stored;
	}

	/** Reads the drafts and shows them. `stored` is the value that the form shows now. */
	async restore(stored: string): Promise<void> {
		const { kind, owner, target } = this.place;
		[this.#stored, this.#shown] = [stored, stored];
		await this.now();
		const drafts = await readDrafts(this.api, kind, owner);
		this.begin(stored, drafts.filter((draft) => draft.place.target === target));
	}

	/** Shows the drafts of this form, newest first, over the stored value. */
	begin(stored: string, drafts: readonly Draft[]): void {
		this.#stored = stored;
		const [newest, second] = drafts;
		if (!newest) return;
		if (this.#unsaved !== null) {
			if (newest.id !== this.#id && newest.text !== this.#unsaved) this.#tell(newest);
			return;
		}
		this.#shown = stored;
		if (newest.text === stored) void this.#send(() => this.api.discardDraft(newest.id));
		else if (newest.base !== fingerprint(stored)) this.notice = { kind: "older", text: newest.text, id: newest.id };
		else {
			[this.#id, this.#shown] = [newest.id, newest.text];
			this.notice = { kind: "restored", text: stored, id: "" };
			this.show(newest.text);
			if (second) this.#tell(second);
		}
	}

	/** Called with the whole text after each change of the form. */
	typed(text: string): void {
		if (text === this.#shown) return;
		[this.#shown, this.#unsaved] = [text, text];
		this.#throttle.run(() => this.now());
	}

	/** Saves the draft at once. If the page is being left, it does not wait for an earlier save. */
	now(why: Leaving = "hidden"): Promise<unknown> {
		this.#throttle.cancel();
		const text = this.#unsaved;
		if (text === null) return this.#sending;
		this.#unsaved = null;
		if (text === this.#stored) return this.#drop();
		return why === "left" ? this.#write(text) : this.#send(() => this.#write(text));
	}

	/** Size of the text that is not saved as a draft yet, in UTF-16 units. */
	get pending(): number {
		return this.#unsaved?.length ?? 0;
	}

	/** The form shows another text than the stored one, so it has a draft. */
	get differs(): boolean {
		return this.#shown !== this.#stored;
	}

	/** Removes the draft, because the form was saved or its text is not wanted. `stored` is the stored value from now on. */
	done(stored = this.#stored): Promise<unknown> {
		this.#throttle.cancel();
		[this.#stored, this.#shown, this.#unsaved] = [stored, stored, null];
		if (this.notice?.id === "") this.notice = null;
		return this.#drop();
	}

	/** Tells the user that the stored value has changed while the form was open. */
	storedChanged(stored: string): void {
		this.#stored = stored;
		this.notice = { kind: "newer", text: stored, id: "" };
	}

	/** Shows the text of the notice. A draft that was shown before stays reachable. */
	async use(): Promise<void> {
		const { notice } = this;
		if (!notice) return;
		if (notice.id === "") {
			this.show(notice.text);
			await this.done();
			return;
		}
		await this.now();
		const [former, shown] = [this.#id, this.#shown];
		this.notice = former === null ? { kind: "restored", text: this.#stored, id: "" } : { kind: "other", text: shown, id: former };
		[this.#id, this.#shown, this.#known] = [notice.id, "", former ?? ""];
		this.show(notice.text);
		this.typed(notice.text);
	}

	/** Deletes the draft of the notice. */
	discard(): void {
		const { notice } = this;
		this.notice = null;
		if (notice && notice.id !== "") void this.#send(() => this.api.discardDraft(notice.id));
	}

	dismiss = (): void => void (this.notice = null);

	async #write(text: string): Promise<void> {
		try {
			const saved = await this.api.writeDraft(this.place, text, fingerprint(this.#stored), this.#id);
			this.#id = saved.id;
			const other = saved.others.find((draft) => draft.text !== text);
			if (other && this.notice?.kind !== "older") this.#tell(other);
		} catch (thrown) {
			this.#unsaved ??= text;
			throw thrown;
		}
	}

	#tell(other: Draft): void {
		if (other.id === this.#known) return;
		this.#known = other.id;
		this.notice = { kind: "other", text: other.text, id: other.id };
	}

	#drop(): Promise<unknown> {
		return this.#send(async () => {
			const id = this.#id;
			this.#id = null;
			if (id !== null) await this.api.discardDraft(id);
		});
	}

	/** Sends one request after the other, because each save names the draft of the one before. */
	#send(request: () => Promise<unknown>): Promise<unknown> {
		this.#sending = this.#sending.then(request).then(
			() => (this.#failed = false),
			(thrown: unknown) => {
				// Reports only the first failure, because every save would repeat it while the engine is unreachable.
				if (!this.#failed) this.failed(asApiError(thrown));
				this.#failed = true;
			},
		);
		return this.#sending;
	}
}

/** The kept forms of one kind and owner, by target. */
export class KeptForms {
	readonly #forms = new SvelteMap<string, KeptForm>();

	constructor(
		private readonly api: Api,
		private readonly kind: DraftKind,
		private readonly owner: string,
		/** Shows a text in the form of a target. */
		private readonly show: (target: string, text: string) => void,
		private readonly failed: (error: ApiError) => void = () => {},
	) {}

	get(target: string): KeptForm | null {
		return this.#forms.get(target) ?? null;
	}

	of(target: string): KeptForm {
		const known = this.#forms.get(target);
		if (known) return known;
		const { kind, owner } = this;
		const form = keptForm(this.api, { kind, owner, target }, (text) => this.show(target, text), this.failed);
		this.#forms.set(target, form);
		return form;
	}

	/** Reads all drafts and shows them over the values that `stored` gives. */
	async restore(stored: (target: string) => string): Promise<Draft[]> {
		// Forms of an earlier visit may still be on their way to the engine.
		const forms = [...pageOf(this.api).forms.values()].filter(({ place }) => place.kind === this.kind && place.owner === this.owner);
		await Promise.all(forms.map((form) => form.now()));
		const drafts = await readDrafts(this.api, this.kind, this.owner);
		const targets = drafts.map((draft) => draft.place.target);
		for (const target of targets.filter((one, at) => targets.indexOf(one) === at)) {
			this.of(target).begin(stored(target), drafts.filter((draft) => draft.place.target === target));
		}
		return drafts;
	}
}

/** Identifies a stored value, to find whether it has changed: its length, and FNV-1a with two different factors. */
export function fingerprint(text: string): string {
	let [one, two] = [0x811c9dc5, 0x01000193];
	for (let at = 0; at < text.length; at++) {
		one = Math.imul(one ^ text.charCodeAt(at), 0x01000193);
		two = Math.imul(two ^ text.charCodeAt(at), 0x85ebca6b);
	}
	return `${text.length}-${(one >>> 0).toString(16)}-${(two >>> 0).toString(16)}`;
}

/** Without the engine there is nothing to restore, and the form itself reports that it is unreachable. */
async function readDrafts(api: Api, kind: DraftKind, owner: string): Promise<Draft[]> {
	return (await api.drafts(kind, owner).catch(() => null)) ?? [];
}

interface PageState {
	forms: Map<string, KeptForm>;
	savers: Set<(why: Leaving) => Promise<unknown>>;
}

const pages = new WeakMap<Api, PageState>();

function pageOf(api: Api): PageState {
	const page = pages.get(api) ?? { forms: new Map(), savers: new Set() };
	pages.set(api, page);
	return page;
}

/** The kept form of a place. A form that is opened again gets the same one, with what it has not saved yet. */
export function keptForm(api: Api, place: DraftPlace, show: (text: string) => void, failed: (error: ApiError) => void): KeptForm {
	const { forms } = pageOf(api);
	const key = JSON.stringify([place.kind, place.owner, place.target]);
	const form = forms.get(key) ?? new KeptForm(api, place, show, failed);
	form.show = show;
	forms.set(key, form);
	return form;
}

/** Calls `save` when the page is about to close, until the returned function is called. */
export function savedOnClose(api: Api, save: (why: Leaving) => Promise<unknown>): () => void {
	const { savers } = pageOf(api);
	savers.add(save);
	return () => void savers.delete(save);
}

/** Saves everything that was typed on the page. */
export async function saveTyped(api: Api, why: Leaving): Promise<void> {
	if (why === "closing") leaveField();
	const { forms, savers } = pageOf(api);
	await Promise.allSettled([...[...forms.values()].map((form) => form.now(why)), ...[...savers].map((save) => save(why))]);
}

/** Lets the focused field store its text, as if the user had left it. */
function leaveField(): void {
	const field = document.activeElement;
	if (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement) field.dispatchEvent(new Event("change", { bubbles: true }));
}

/** Size of all texts of forms that are not saved yet, in UTF-16 units. */
export function pendingSize(api: Api): number {
	return [...pageOf(api).forms.values()].reduce((sum, form) => sum + form.pending, 0);
}
