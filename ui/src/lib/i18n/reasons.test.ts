import { afterEach, expect, test } from "vitest";
import type { BlockReason, SourceLabel } from "../api/generated";
import { setLanguage, t } from "./i18n.svelte";
import { sourceOf, whyCandidate, whyLeftOut, whyNewEpoch } from "./reasons";

afterEach(() => setLanguage("en"));

const why = (...reasons: BlockReason[]) => whyCandidate({ reason: "in English", reasons });

test("translates the codes of a block, with their values", () => {
	const key = { code: "keyInMessage", key: "lamp", speaker: "Tom", ago: 3 };
	expect(why(key, { code: "scripts", names: ["Trim"] })).toBe("Keyword “lamp” in the message of Tom, 3 messages ago; changed by the script “Trim”");
	expect(why({ code: "importantFor", features: ["commitment", "names"] })).toBe("Important: a promise, decision or secret, names");
	setLanguage("de");
	expect(why({ ...key, ago: 1 })).toBe("Schlüsselwort „lamp“ in der Nachricht von Tom, vor 1 Nachricht");
	expect(why({ code: "aboutThisTurn", score: 0.7 }, { code: "images", count: 2, tokens: 1200 })).toBe("Zum Thema dieses Zugs, 0,7; 2 Bilder, 1.200 Token");
});

test("translates the source of a block, also of tool rounds", () => {
	const source = (label: SourceLabel) => sourceOf({ source: "in English", label });
	expect(source({ code: "toolCalls", names: "roll_dice, look" })).toBe("calls of roll_dice, look");
	expect(source({ code: "setting", key: "tool_rounds" })).toBe(`setting ${t("setting.tool_rounds")}`);
	setLanguage("de");
	expect(source({ code: "toolResults", names: "roll_dice" })).toBe("Ergebnisse von roll_dice");
	expect(source({ code: "older", count: 1 })).toBe("1 ältere Nachricht");
	expect(source({ code: "unknown" })).toBe("in English");
	expect(sourceOf({ source: "said by Tom", label: null })).toBe("said by Tom");
});

test("shows the sentence of an older prompt, and the code that has no text", () => {
	expect(why()).toBe("in English");
	expect(why({ code: "newerThanThisWindow" })).toBe("newerThanThisWindow");
	const left = { reason: "always on", kept: false, droppedReason: "no room", droppedCode: null };
	expect(whyLeftOut(left)).toBe("no room");
	expect(whyLeftOut({ ...left, droppedReason: null })).toBe("always on");
	expect(whyNewEpoch({ newEpoch: "the window was full" })).toBe("the window was full");
});

test("translates why a block was left out and why an epoch began", () => {
	setLanguage("de");
	expect(whyLeftOut({ reason: "", kept: false, droppedReason: "left out by you", droppedCode: "leftOut" })).toBe("von dir weggelassen");
	expect(whyLeftOut({ reason: "", kept: true, droppedReason: null })).toBe("");
	expect(whyNewEpoch({ newEpoch: "start of the chat", newEpochCode: "first" })).toBe("Beginn des Chats");
});
