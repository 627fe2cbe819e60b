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

	discard(id: string): void {
		this.#all = this.#all.filter((draft) => draft.id !== id);
	}
}
