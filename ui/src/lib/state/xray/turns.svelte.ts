import { asApiError } from "../../api/errors";
import type { ApiError, ChatId, PastTurn } from "../../api/generated";
import type { Api } from "../api";

const PAGE = 40;

/** Past turns of a chat whose prompts are stored, newest first. */
export class PastTurns {
	items = $state.raw<PastTurn[]>([]);
	more = $state(true);
	reading = $state(false);
	failure = $state.raw<ApiError | null>(null);

	constructor(
		private readonly api: Api,
		readonly chat: ChatId,
	) {}

	/** Loads the next older page. */
	older = async (): Promise<void> => {
		if (this.reading || !this.more) return;
		[this.reading, this.failure] = [true, null];
		try {
			const page = await this.api.pastTurns(this.chat, this.items.at(-1)?.message ?? null, PAGE);
			this.items = [...this.items, ...page.filter(({ swipe }) => !this.items.some((known) => known.swipe === swipe))];
			this.more = page.length === PAGE;
		} catch (thrown) {
			this.failure = asApiError(thrown);
		}
		this.reading = false;
	};
}
