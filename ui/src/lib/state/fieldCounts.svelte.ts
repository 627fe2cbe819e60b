import type { CharacterFields, TextCounts } from "../api/generated";
import type { Api } from "./api";
import { mapOf } from "./find";
import { Debounce } from "./debounce";

/** Fields that are in every prompt of the character. */
const ALWAYS = ["description", "personality", "scenario", "messageExamples", "systemPrompt", "postHistoryInstructions", "depthPrompt"];
/** The engine counts at most this many texts per call. */
const LIMIT = 256;

/** Token counts of a card's fields, by the tokenizer of the current model. */
export class FieldCounts {
	#counted = $state.raw<ReadonlyMap<string, number>>(mapOf([]));
	#by = $state.raw<Pick<TextCounts, "model" | "exact"> | null>(null);
	readonly always = $derived(ALWAYS.reduce((sum, name) => sum + (this.of(name) ?? 0), 0));
	readonly #debounce = new Debounce(400);
	#asked = 0;

	constructor(private readonly api: Api) {}

	/** The tokenizer used; `null` until something was counted. */
	get by(): Pick<TextCounts, "model" | "exact"> | null {
		return this.#by;
	}

	/** Tokens of a field, or of one of its texts, such as `alternateGreetings.0`. */
	of(name: string): number | null {
		return this.#counted.get(name) ?? null;
	}

	/** Counts after a pause in typing. */
	note(fields: CharacterFields): void {
		this.#debounce.run(() => this.count(fields));
	}

	async count(fields: CharacterFields): Promise<void> {
		const asked = ++this.#asked;
		const texts = textsOf(fields).slice(0, LIMIT);
		try {
			const { tokens, model, exact } = await this.api.countFields(texts.map(([, text]) => text));
			if (asked !== this.#asked) return;
			this.#counted = mapOf(texts.map(([name], at) => [name, tokens[at] ?? 0] as const));
			this.#by = { model, exact };
		} catch {
			// Editing works without counts, so the error is not shown.
			if (asked === this.#asked) [this.#counted, this.#by] = [mapOf([]), null];
		}
	}

	stop(): void {
		this.#debounce.cancel();
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
