import { asApiError } from "../api/errors";
import type { ApiError, ChatId, Event, ToolDecision, ToolRequest } from "../api/generated";
import type { Api } from "./api";

/** Questions of the open chat: may a tool run? The reply waits for the answers. */
export class ToolQuestions {
	open = $state.raw<readonly ToolRequest[]>([]);
	/** The question to show. */
	readonly first = $derived(this.open[0] ?? null);

	constructor(
		private readonly api: Api,
		private readonly chat: ChatId,
		private readonly failed: (error: ApiError) => void,
	) {}

	/** Loads the questions that were asked before the chat was opened. */
	async load(): Promise<void> {
		this.open = await this.api.pendingTools(this.chat).catch(() => []);
	}

	asked({ request }: Event & { event: "toolAsked" }): void {
		if (!this.open.some(({ id }) => id === request.id)) this.open = [...this.open, request];
	}

	answered({ request }: Event & { event: "toolAnswered" }): void {
		this.open = this.open.filter(({ id }) => id !== request);
	}

	async answer(request: ToolRequest, decision: ToolDecision): Promise<void> {
		this.open = this.open.filter(({ id }) => id !== request.id);
		try {
			await this.api.answerTool(request.id, decision);
		} catch (thrown) {
			this.failed(asApiError(thrown));
			await this.load();
		}
	}
}
