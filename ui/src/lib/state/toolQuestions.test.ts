import { expect, test, vi } from "vitest";
import type { ToolRequest } from "../api/generated";
import type { Api } from "./api";
import { ToolQuestions } from "./toolQuestions.svelte";

const request = (id: string): ToolRequest => ({ id, chat: "chat1", speaker: "Mira", source: "lab", tool: "look", description: "", arguments: "{}", argumentTexts: [] });

test("questions are answered one after the other", async () => {
	const answerTool = vi.fn(() => Promise.resolve(null));
	const questions = new ToolQuestions({ answerTool } as unknown as Api, "chat1", () => {});
	for (const id of ["a", "b", "a"]) questions.asked({ event: "toolAsked", chat: "chat1", request: request(id) });
	expect(questions.open.map(({ id }) => id)).toEqual(["a", "b"]);
	await questions.answer(request("a"), "once");
	expect(answerTool).toHaveBeenCalledWith("a", "once");
	expect(questions.first?.id).toBe("b");
	questions.answered({ event: "toolAnswered", chat: "chat1", request: "b" });
	expect(questions.first).toBeNull();
});

test("a late answer is reported and the questions load again", async () => {
	const failed = vi.fn();
	const api = { answerTool: () => Promise.reject({ kind: "notFound", message: "gone" }), pendingTools: () => Promise.resolve([request("c")]) };
	const questions = new ToolQuestions(api as unknown as Api, "chat1", failed);
	await questions.answer(request("a"), "never");
	expect(failed).toHaveBeenCalled();
	expect(questions.first?.id).toBe("c");
});
