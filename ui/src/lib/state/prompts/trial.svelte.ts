import { asApiError } from "../../api/errors";
import type { ApiError, ScriptTrial } from "../../api/generated";
import type { Api } from "../api";
import { Debounce } from "../debounce";

/** Runs the edited script on a sample text. */
export class Trial {
	sample = $state("");
	result = $state.raw<ScriptTrial | null>(null);
	failure = $state.raw<ApiError | null>(null);
	#debounce = new Debounce(200);
	#asked = 0;

	constructor(
		private readonly api: Api,
		/** Id of the chat whose names replace the macros. */
		private readonly chat: () => string | null,
	) {}

	/** Runs the script after a pause in typing. Only the result of the latest request is used. */
	show(script: string, sample: string): void {
		const asked = ++this.#asked;
		if (sample === "") {
			this.#debounce.cancel();
			[this.result, this.failure] = [null, null];
			return;
		}
		this.#debounce.run(async () => {
			try {
				const result = await this.api.tryRegexScript(script, sample, this.chat());
				if (asked === this.#asked) [this.result, this.failure] = [result, null];
			} catch (thrown) {
				if (asked === this.#asked) [this.result, this.failure] = [null, asApiError(thrown)];
			}
		});
	}

	close(): void {
		this.#asked++;
		this.#debounce.cancel();
	}
}
