import { asApiError } from "../../api/errors";
import type { ApiError, ChatId, LoreTrial } from "../../api/generated";
import type { Api } from "../api";
import { Debounce } from "../debounce";

/** Tests which entries a text, or the last message of a chat, would trigger. */
export class LoreTest {
	text = $state("");
	/** Id of the chat; empty to test the text alone. */
	chat = $state("");
	result = $state.raw<LoreTrial | null>(null);
	failure = $state.raw<ApiError | null>(null);
	busy = $state(false);
	#debounce = new Debounce(250);
	#asked = 0;

	constructor(private readonly api: Api) {}

	/** Runs the test after a pause in typing. Only the result of the latest request is used. */
	show(book: string, text: string, chat: ChatId): void {
		const asked = ++this.#asked;
		if (text.trim() === "" && chat === "") {
			this.#debounce.cancel();
			[this.result, this.failure, this.busy] = [null, null, false];
			return;
		}
		this.busy = true;
		this.#debounce.run(async () => {
			try {
				const result = await this.api.tryLore(book, text, chat || null);
				if (asked === this.#asked) [this.result, this.failure] = [result, null];
			} catch (thrown) {
				if (asked === this.#asked) [this.result, this.failure] = [null, asApiError(thrown)];
			}
			if (asked === this.#asked) this.busy = false;
		});
	}

	close(): void {
		this.#asked++;
		this.#debounce.cancel();
		[this.result, this.failure, this.busy] = [null, null, false];
	}
}
