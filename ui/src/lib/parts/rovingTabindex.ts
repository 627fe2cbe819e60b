import type { Attachment } from "svelte/attachments";

/** Controls that Tab reaches. Scrollable boxes keep their own tab stop, so that the keyboard can scroll them. */
const CONTROLS = "button, input, textarea, select, summary, a[href], [tabindex]:not(pre, .table, [role=dialog], [role=menu])";

interface List {
	/** Selector of the rows. */
	row: string;
	/** Selector of the element in a row that takes the focus; the row itself if empty. */
	item?: string;
	/** Whether Tab continues to the other controls of the focused row. If not, a key or the row's menu reaches them. */
	controls: boolean;
}

/** Makes a list a single tab stop (roving tabindex), at the row that had the focus last. Arrow keys move between rows. */
export function rovingTabindex({ row, item = "", controls }: List): Attachment<HTMLElement> {
	return (list) => {
		let last: Element | null = null;
		const update = () => {
			const rows = [...list.querySelectorAll<HTMLElement>(row)];
			const focused = rows.find((one) => one.contains(document.activeElement));
			const remembered = rows.find((one) => one === last);
			const chosen = rows.find((one) => one.matches("[aria-current], .last") || one.querySelector("[aria-current]") !== null);
			last = focused ?? remembered ?? null;
			const current = last ?? chosen ?? rows[0];
			for (const one of rows) settle(one, item, one === current, controls);
		};
		const observer = new MutationObserver(update);
		observer.observe(list, { childList: true, subtree: true, attributes: true, attributeFilter: ["aria-current"] });
		list.addEventListener("focusin", update);
		update();
		return () => {
			observer.disconnect();
			list.removeEventListener("focusin", update);
		};
	};
}

/** Makes a line of buttons a single tab stop. Arrow keys, Home and End move between the buttons. */
export const toolbar: Attachment<HTMLElement> = (line) => {
	const buttons = () => [...line.querySelectorAll<HTMLButtonElement>("button:enabled")];
	const update = () => {
		const all = buttons();
		const current = all.find((button) => button === document.activeElement) ?? all.find((button) => button.tabIndex === 0) ?? all[0];
		for (const button of all) stop(button, button === current);
	};
	const move = (event: KeyboardEvent) => {
		const all = buttons();
		const at = all.indexOf(document.activeElement as HTMLButtonElement);
		const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1 }[event.key];
		if (at < 0 || next === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
		event.preventDefault();
		event.stopPropagation();
		all[(next + all.length) % all.length]?.focus();
	};
	const observer = new MutationObserver(update);
	observer.observe(line, { childList: true, subtree: true, attributes: true, attributeFilter: ["disabled"] });
	line.addEventListener("focusin", update);
	line.addEventListener("keydown", move);
	update();
	return () => {
		observer.disconnect();
		line.removeEventListener("focusin", update);
		line.removeEventListener("keydown", move);
	};
};

/** Opens the menu of the focused row on the menu key or Shift+F10. Returns whether it did. */
export function openRowMenu(event: KeyboardEvent, row: string): boolean {
	if (event.key !== "ContextMenu" && !(event.key === "F10" && event.shiftKey)) return false;
	const menu = (event.target as Element).closest(row)?.querySelector<HTMLElement>("[aria-haspopup=menu]");
	if (!menu) return false;
	event.preventDefault();
	menu.focus();
	menu.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
	return true;
}

function settle(row: HTMLElement, item: string, current: boolean, controls: boolean): void {
	const main = item === "" ? row : row.querySelector<HTMLElement>(item);
	if (main) stop(main, current);
	for (const control of row.querySelectorAll<HTMLElement>(CONTROLS)) {
		if (control !== main && control.closest("[role=toolbar]") === null) stop(control, current && controls);
	}
}

function stop(element: HTMLElement, is: boolean): void {
	const value = is ? "0" : "-1";
	if (element.getAttribute("tabindex") !== value) element.setAttribute("tabindex", value);
}
