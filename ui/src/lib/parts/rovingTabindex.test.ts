import { beforeEach, expect, test } from "vitest";
import { rovingTabindex, openRowMenu, toolbar } from "./rovingTabindex";

beforeEach(() => (document.body.innerHTML = ""));

function list(html: string): HTMLElement {
	document.body.innerHTML = `<div id="list">${html}</div>`;
	return document.getElementById("list") as HTMLElement;
}

const stops = () => [...document.querySelectorAll<HTMLElement>("button")].filter((one) => one.tabIndex === 0).map((one) => one.textContent);
const focus = (text: string) => [...document.querySelectorAll("button")].find((one) => one.textContent === text)?.focus();
const settled = () => new Promise((resolve) => setTimeout(resolve));
const ROWS = ["a", "b", "c"].map((name) => `<div class="row"><button class="item">${name}</button><button aria-haspopup="menu">${name} menu</button></div>`).join("");

test("list is one tab stop, at the last focused row", () => {
	rovingTabindex({ row: ".row", item: ".item", controls: false })(list(ROWS));
	expect(stops()).toEqual(["a"]);
	focus("b");
	expect(stops()).toEqual(["b"]);
	(document.activeElement as HTMLElement).blur();
	expect(stops()).toEqual(["b"]);
});

test("list's tab stop starts at the chosen row", () => {
	rovingTabindex({ row: ".row", item: ".item", controls: false })(list(ROWS.replace('class="item">c', 'class="item" aria-current="true">c')));
	expect(stops()).toEqual(["c"]);
});

test("controls of the focused row can be tab stops", () => {
	rovingTabindex({ row: ".row", item: ".item", controls: true })(list(ROWS));
	expect(stops()).toEqual(["a", "a menu"]);
	focus("c menu");
	expect(stops()).toEqual(["c", "c menu"]);
});

test("rows added later are not extra tab stops", async () => {
	const node = list(ROWS);
	rovingTabindex({ row: ".row", item: ".item", controls: false })(node);
	node.insertAdjacentHTML("afterbegin", '<div class="row"><button class="item">new</button></div>');
	await settled();
	expect(stops()).toHaveLength(1);
});

test("toolbar is one tab stop, and arrow keys wrap", () => {
	const node = list("<button>a</button><button disabled>b</button><button>c</button>");
	toolbar(node);
	expect(stops().filter((name) => name !== "b")).toEqual(["a"]);
	focus("a");
	for (const [key, at] of [["ArrowRight", "c"], ["ArrowRight", "a"], ["End", "c"], ["Home", "a"], ["ArrowLeft", "c"]]) {
		document.activeElement?.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
		expect(document.activeElement?.textContent).toBe(at);
	}
});

test("menu key opens the menu of the row", () => {
	const node = list(ROWS);
	let opened = "";
	node.addEventListener("keydown", (event) => {
		if (event.key === "Enter") opened = (event.target as Element).textContent ?? "";
		else openRowMenu(event, ".row");
	});
	focus("b");
	document.activeElement?.dispatchEvent(new KeyboardEvent("keydown", { key: "F10", shiftKey: true, bubbles: true, cancelable: true }));
	expect(opened).toBe("b menu");
});
