import type { ToolDecision, ToolGrant, ToolRequest } from "../../src/lib/api/generated";
import type { MockChat, MockEngine } from "./engine";

/** Tools of the scripted engine: questions and decisions. */
export class MockTools {
	readonly pending: ToolRequest[] = [];
	grants: ToolGrant[] = [
		{ source: "", tool: "set_mood", chat: null, chatTitle: null, allowed: true },
		{ source: "files", tool: "read_file", chat: "chat1", chatTitle: "The night ferry", allowed: true },
		{ source: "files", tool: "delete_file", chat: null, chatTitle: null, allowed: false },
	];
	/** The answers so far. */
	readonly answers: ToolDecision[] = [];

	constructor(private readonly engine: Pick<MockEngine, "emit">) {}

	/** Asks whether a tool may run. */
	ask(chat: MockChat, tool: string, source: string, given: object): void {
		const request: ToolRequest = { id: `t${this.pending.length + 1}`, chat: chat.id, speaker: "Mira Vale", source, tool, description: "Reads a file of your notes.", arguments: JSON.stringify(given), argumentTexts: [{ name: "path", about: "The file to read, below the folder of notes." }] };
		this.pending.push(request);
		this.engine.emit({ event: "toolAsked", chat: chat.id, request });
	}

	op_pending_tools = ({ chat }: { chat: string }): ToolRequest[] => this.pending.filter((request) => request.chat === chat);
	op_answer_tool = ({ request, decision }: { request: string; decision: ToolDecision }): null => {
		const at = this.pending.findIndex(({ id }) => id === request);
		const [answered] = this.pending.splice(at, 1);
		this.answers.push(decision);
		if (answered) this.engine.emit({ event: "toolAnswered", chat: answered.chat, request });
		return null;
	};
	op_tool_grants = (): ToolGrant[] => this.grants;
	op_forget_tool_grant = ({ source, tool, chat }: { source: string; tool: string; chat: string | null }): null => {
		this.grants = this.grants.filter((grant) => grant.source !== source || grant.tool !== tool || grant.chat !== chat);
		return null;
	};
}
