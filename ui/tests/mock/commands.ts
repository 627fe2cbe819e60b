import type { CommandCompletion, CommandOutcome, Picture } from "../../src/lib/api/generated";
import { message, swipe } from "./data";
import type { MockEngine } from "./engine";

const NAMES: [name: string, usage: string][] = [["mode", "[name]"], ["continue", ""], ["roll", "2d6+1"], ["impersonate", ""], ["help", "[command]"]];

/** A few scripted slash commands. */
export class MockCommands {
	constructor(private readonly engine: MockEngine) {}

	#modes = (): string[] => this.engine.presets.op_list_modes().map(({ name }) => name);

	op_complete_command = ({ text }: { text: string }): CommandCompletion[] => {
		const [, begun, space, argument = ""] = /^\/(\p{L}*)(?:(\s+)(\S*))?$/u.exec(text) ?? [];
		if (begun === undefined) return [];
		if (space === undefined) {
			const rows = NAMES.map(([name, usage]) => ({ text: usage === "" ? `/${name}` : `/${name} `, name, usage, help: name }));
			return rows.filter((row) => row.text.startsWith(text) && row.text !== text);
		}
		const modes = begun === "mode" ? this.#modes() : [];
		return modes.filter((mode) => mode.startsWith(argument.toLowerCase()) && mode !== argument).map((mode) => ({ text: `/mode ${mode}`, name: "mode", usage: "", help: "" }));
	};

	op_run_command = ({ chat, text }: { chat: string; text: string; pictures: Picture[] }): CommandOutcome => {
		const [, slashes, command = "", value = ""] = /^(\/{1,2})(\p{L}+)(?:\s+([\s\S]*))?$/u.exec(text.trim()) ?? [];
		if (slashes !== "/" || command === "me") return { kind: "started", started: this.engine.op_send_message({ chat, text: slashes === "//" ? text.trim().slice(1) : text }) };
		if (command === "help") return { kind: "help", commands: NAMES.map(([name, usage]) => ({ name, usage, help: name })) };
		if (command === "scene") {
			const { messages } = this.engine.chat(chat);
			const told = message(`n${messages.length}`, "narrator", [swipe(`ns${messages.length}`, value)], { name: "Narrator" });
			messages.push(told);
			return { kind: "added", message: told };
		}
		if (command === "branch") {
			const { id, title } = this.engine.branches.op_branch_chat({ message: this.engine.chat(chat).messages.at(-1)?.id ?? "", swipe: null, title: value || null });
			return { kind: "opened", chat: id, title };
		}
		if (command !== "mode") return { kind: "refused", refusal: { code: "unknownCommand", command, value: command, near: [], message: "" } };
		const mode = this.#modes().find((name) => name === value.toLowerCase());
		if (!mode) return { kind: "refused", refusal: { code: "unknownName", command, value, near: this.#modes().filter((name) => name.startsWith(value.slice(0, 1))), message: "" } };
		this.engine.op_set_setting({ owner: { scope: "chat", id: chat }, key: "mode", value: mode });
		return { kind: "set", setting: "mode", value: mode };
	};
}
