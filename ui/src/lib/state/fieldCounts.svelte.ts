import type { CharacterFields, TextCounts } from "../api/generated";
import type { Api } from "./api";
import { mapOf } from "./find";
import { Later } from "./later";

/** What every prompt of the character begins with. */
const ALWAYS = ["description", "personality", "scenario", "messageExamples", "systemPrompt", "postHistoryInstructions", "depthPrompt"];
/** The engine counts no more in one call. */
const MOST = 256;

/** Tokens of a card's fields by the model that answers. */
export class FieldCounts {
	#counted = $state.raw<ReadonlyMap<string, number>>(mapOf([]));
	#by = $state.raw<Pick<TextCounts, "model" | "exact"> | null>(null);
	readonly always = $derived(ALWAYS.reduce((sum, name) => sum + (this.of(name) ?? 0), 0));
	readonly #later = new Later(400);
	#asked = 0;

	constructor(private readonly api: Api) {}

	/** Who counted; `null` until something was. */
	get by(): Pick<TextCounts, "model" | "exact"> | null {
		return this.#by;
	}

	/** Tokens of a field, or of one of its texts: `alternateGreetings.0`. */
	of(name: string): number | null {
		return this.#counted.get(name) ?? null;
	}

	/** Counts once the user pauses. */
	note(fields: CharacterFields): void {
		this.#later.run(() => this.count(fields));
	}

	async count(fields: CharacterFields): Promise<void> {
		const asked = ++this.#asked;
		const texts = textsOf(fields).slice(0, MOST);
		try {
			const { tokens, model, exact } = await this.api.countFields(texts.map(([, text]) => text));
			if (asked !== this.#asked) return;
			this.#counted = mapOf(texts.map(([name], at) => [name, tokens[at] ?? 0] as const));
			this.#by = { model, exact };
		} catch {
			// Without a count the fields are no worse to edit.
			if (asked === this.#asked) [this.#counted, this.#by] = [mapOf([]), null];
		}
	}

	stop(): void {
		this.#later.cancel();
		this.#asked++;
	}
}

function textsOf(fields: CharacterFields): [string, string][] {
	return Object.entries(fields).flatMap(([name, value]): [string, string][] => {
		if (typeof value === "string") return [[name, value]];
		if (name === "depthPrompt") return [[name, fields.depthPrompt.text]];
		if (name === "alternateGreetings" || name === "groupOnlyGreetings") return fields[name].map((text, at) => [`${name}.${at}`, text]);
		return [];
	});
}
