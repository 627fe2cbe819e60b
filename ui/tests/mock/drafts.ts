import type { Draft, DraftKind, DraftPlace, SavedDraft } from "../../src/lib/api/generated";
import { ago } from "./data";

/** Drafts of forms. Each write replaces the draft that it names, as in the engine. */
export class MockDrafts {
	#all: Draft[] = [];
	#next = 1;

	of(kind: DraftKind, owner: string): Draft[] {
		return this.#all.filter(({ place }) => place.kind === kind && place.owner === owner).toReversed();
	}

	write({ place, text, base, before }: { place: DraftPlace; text: string; base: string; before: string | null }): SavedDraft {
		const draft: Draft = { id: `draft${this.#next++}`, place, text, base, saved: ago(0) };
		this.#all = [...this.#all.filter(({ id }) => id !== before), draft];
		const others = this.of(place.kind, place.owner).filter((other) => other.id !== draft.id && other.place.target === place.target);
		return { id: draft.id, others };
	}

	/** Keeps the stored text of a composer as a draft if another window wrote it. */
	replace(chat: string, { stored, known, text }: { stored: string; known: string; text: string }): void {
		const place: DraftPlace = { kind: "composer", owner: chat, target: "" };
		const isOwn = (draft: Draft) => draft.place.kind === place.kind && draft.place.owner === chat && [known, text].includes(draft.text);
		this.#all = this.#all.filter((draft) => !isOwn(draft));
		if (stored.trim() !== "" && stored !== known && stored !== text) this.write({ place, text: stored, base: "", before: null });
	}

	discard(id: string): void {
		this.#all = this.#all.filter((draft) => draft.id !== id);
	}
}
