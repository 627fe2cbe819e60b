import type { App } from "../../src/lib/state/app.svelte";
import { message, swipe } from "./data";
import type { MockChat, MockEngine } from "./engine";
import { press, until } from "./page";
import type { Scene } from "./scenes";

/** Pictures of emotions beside, behind and above the messages, in a group, and a background. */
export async function scenery(scene: Scene, engine: MockEngine, chat: MockChat, app: App): Promise<void> {
	const owner = { scope: "chat" as const, id: chat.id };
	if (scene === "spritesbehind") engine.layered.set(owner, "sprite_place", "behind");
	if (scene === "spritesabove") engine.layered.set(owner, "sprite_place", "above");
	if (scene === "backdrop" || scene === "gallery" || scene === "spritesgroup") engine.layered.set(owner, "background", "c3");
	if (scene === "spritesgroup") {
		chat.members = ["c2"];
		const said = message("g2", "character", [swipe("g2s", "“I know the mill.”", { emotion: { label: "neutral", unknownTag: null } })], { name: "Captain Osei", speaker: "c2" });
		chat.messages.push(said);
	}
	chat.messages.push(message("a9", "character", [swipe("a9s", "*She beams.* “You found it!” ${image.harbour} ${image.nowhere}", { emotion: { label: "joy", unknownTag: null } })]));
	await app.chat?.load();
	await app.chat?.loadDisplaySettings();
	const shown = scene.startsWith("sprites") ? "[data-testid=sprite]" : "[data-testid=backdrop]";
	await until(() => document.querySelector(shown) !== null);
	if (scene === "gallery") {
		app.settingsOpen = true;
		await until(() => document.querySelector("[data-testid=background] summary") !== null);
		await press("[data-testid=background] summary");
		await until(() => document.querySelectorAll("[data-testid=background-choice]").length === 2);
	}
}

/** Documents attached to the chat. One name is too long for its line. */
export async function documents(engine: MockEngine, chat: MockChat, app: App): Promise<void> {
	const created = new Date().toISOString();
	const owner = { of: "chat" as const, id: chat.id };
	engine.documents = [
		{ id: "book1", owner, name: "The keeper's handbook.md", bytes: 48_213, passages: 74, created },
		{ id: "book2", owner, name: "Everything that is known of the hill town, its bell, its mill and those who kept them.txt", bytes: 1_204_880, passages: 1_688, created },
	];
	await app.chat?.documents.load();
	app.showSetting("documents");
}

/** A reply with tool rounds, a question about a tool, or the settings of tools. */
export async function tools(scene: Scene, engine: MockEngine, chat: MockChat, app: App): Promise<void> {
	if (scene === "toolsettings") {
		app.showSettings({ tab: "tools", row: "tool_rounds" });
		return;
	}
	const toolRounds = [
		{ text: "", calls: [{ name: "roll_dice", arguments: '{"dice":"2d6"}', result: "2d6 = 9 (4 + 5)", error: false }, { name: "look_up_lore", arguments: '{"about":"bell"}', result: "The bell: It has not rung since the flood.\n\nThe keeper: She knows why.", error: false }] },
		{ text: "", calls: [{ name: "files__read_file", arguments: '{"path":"/notes/mill.md"}', result: "The user does not allow this call.", error: true }] },
	];
	const figures = { prompt: 1840, reused: 1702, evaluated: 138, generated: 64, prefillMs: 310, firstTextMs: 900, decodeMs: 2400, thoughtMs: null, toolRounds: [{ tokens: 96, modelMs: 1200, toolsMs: 14 }, { tokens: 61, modelMs: 800, toolsMs: 3 }], toolLimit: true };
	chat.messages.push(message("u3", "user", [swipe("u3s", "Do I hear the bell?")]));
	chat.messages.push(message("a3", "character", [swipe("a3s", "*She listens.* “Nine. You hear it, faintly, under the water.”", { toolRounds, figures })]));
	await app.chat?.load();
	if (scene !== "toolquestion") return;
	chat.messages.push(message("u4", "user", [swipe("u4s", "What do your notes say?")]));
	await app.chat?.load();
	engine.begin(chat);
	engine.tools.ask(chat, "read_file", "files", { path: "/notes/mill.md", lines: [1, 40] });
}

/** Pictures in sent messages, a reply with tool calls, and a picture in the composer. */
export async function pictures(chat: MockChat, app: App): Promise<void> {
	const sent = [{ hash: "c1", name: "harbour.jpg" }, { hash: "c2", name: "" }];
	const toolCalls = [{ name: "look_at", arguments: '{"what": "harbour"}', valid: true }, { name: "zoom", arguments: '{"by": 2', valid: false }];
	chat.messages.push(message("u3", "user", [swipe("u3s", "This is what I saw from the road.")], { pictures: sent }));
	chat.messages.push(message("a3", "character", [swipe("a3s", "*She leans closer.*", { toolCalls })]));
	await app.chat?.load();
	await app.chat?.attached.add([new File(["x"], "lamp.png", { type: "image/png" })]);
}
