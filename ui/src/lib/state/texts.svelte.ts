import { asApiError } from "../api/errors";
import type { ApiError, CardField, ChatText } from "../api/generated";
import type { Api } from "./api";

interface Surroundings {
	failed(error: ApiError): void;
	/** The next prompt is another one than before. */
	turned(): void;
}

/** What one chat says instead of its card. What is refused is told and changes nothing. */
export class OwnTexts {
	all = $state.raw<ChatText[] | null>(null);
	failure = $state.raw<ApiError | null>(null);
	#sending: Promise<unknown> = Promise.resolve();
	#asked = 0;

	constructor(
		private readonly api: Api,
		private readonly chat: string,
		private readonly around: Surroundings,
	) {}

	load = async (): Promise<void> => {
		const asked = ++this.#asked;
		try {
			const all = await this.api.chatTexts(this.chat);
			if (asked === this.#asked) [this.all, this.failure] = [all, null];
		} catch (thrown) {
			if (asked === this.#asked) this.failure = asApiError(thrown);
		}
	};

	/** Loads now, and for an effect again with whatever it is given. */
	follow(..._news: unknown[]): void {
		void this.load();
	}

	/** `null` brings the card's words back. */
	set(field: CardField, text: string | null): Promise<unknown> {
		// One after the other: of two quick changes the second must win.
		this.#sending = this.#sending
			.then(() => this.api.setChatText(this.chat, field, text))
			.then((all) => {
				this.#asked++;
				this.all = all;
				this.around.turned();
			})
			.catch((thrown: unknown) => {
				this.around.failed(asApiError(thrown));
				// What the control shows is not what is stored.
				return this.load();
			});
		return this.#sending;
	}
}
