import type { PageValues } from "../state/pageValues";
import { shortcutOf } from "./keys";
import { ACTIONS, type Action, type ActionId } from "./list";

const KEY = "inglenook.shortcuts";

type Changes = Partial<Record<ActionId, string>>;

/** Shortcuts of the window, and the dialog that lists them. */
export class Shortcuts {
	shown = $state(false);
	#changes = $state.raw<Changes>({});

	constructor(private readonly values: PageValues) {
		this.#changes = stored(values);
	}

	open(): void {
		this.shown = true;
	}

	close = (): void => {
		this.shown = false;
	};

	/** The shortcut of an action; empty for none. */
	of({ id, shortcut }: Action): string {
		return this.#changes[id] ?? shortcut;
	}

	isChanged(action: Action): boolean {
		return this.of(action) !== action.shortcut;
	}

	get anyChanged(): boolean {
		return ACTIONS.some((action) => this.isChanged(action));
	}

	/** Actions with a shortcut, other than `but`, that could run in the same place. */
	conflicts(shortcut: string, but: Action): Action[] {
		return shortcut === "" ? [] : ACTIONS.filter((action) => action !== but && this.of(action) === shortcut && !apart(action, but));
	}

	/** Gives an action a shortcut and takes it from those that had it. */
	set(action: Action, shortcut: string): void {
		const taken = this.conflicts(shortcut, action).map(({ id }) => [id, ""] as const);
		this.#keep({ ...this.#changes, ...Object.fromEntries(taken), [action.id]: shortcut });
	}

	reset(action: Action): void {
		this.set(action, action.shortcut);
	}

	resetAll(): void {
		this.#keep({});
	}

	/** The actions of a shortcut, of which at most one is available at a time. */
	actions(shortcut: string): Action[] {
		return shortcut === "" ? [] : ACTIONS.filter((action) => this.of(action) === shortcut);
	}

	/** Whether a key event is the shortcut of an action that a screen handles itself. */
	is(id: ActionId, event: KeyboardEvent): boolean {
		return this.actions(shortcutOf(event)).some((action) => action.id === id);
	}

	#keep(changes: Changes): void {
		const real = ACTIONS.filter(({ id, shortcut }) => changes[id] !== undefined && changes[id] !== shortcut);
		this.#changes = Object.fromEntries(real.map(({ id }) => [id, changes[id]]));
		this.values.set(KEY, JSON.stringify(this.#changes));
	}
}

/** The editor's undo and the one of the window never run in the same place, and a page that can be locked is not hidden. */
function apart(one: Action, two: Action): boolean {
	const ids = [one.id, two.id];
	if (ids.includes("lock") && ids.includes("hide")) return true;
	return (one.group === "editor") !== (two.group === "editor") && ids.includes("undo");
}

function stored(values: PageValues): Changes {
	try {
		const all = JSON.parse(values.get(KEY) ?? "{}") as unknown;
		if (typeof all !== "object" || all === null) return {};
		const known = ACTIONS.filter(({ id }) => typeof (all as Record<string, unknown>)[id] === "string");
		return Object.fromEntries(known.map(({ id }) => [id, (all as Record<string, string>)[id]]));
	} catch {
		return {};
	}
}
