/** A part of a message that is rendered separately. */
export interface Part {
	/** Its start in the text. */
	at: number;
	text: string;
	/** `plain` is shown without Markdown, because parsing it could take too long. */
	kind: "prose" | "block" | "plain";
	/** No blank line separates it from the previous part. */
	joined: boolean;
}

/** Maximum length of text outside code blocks that is parsed as Markdown. The rest is plain, except its code blocks. */
export const MARKDOWN_LIMIT = 64 * 1024;
/** A longer paragraph, list or quotation is split at its next line break. */
const LONG = 2 * 1024;
/** Maximum nesting of lists and quotations. A recursive parser overflows its stack only far beyond it. */
const DEEPEST = 16;
/** Maximum of marks times length in one paragraph, because the parser searches the rest for the end of each mark. */
const MOST_SEEKING = 1_500_000;
/** Approximate maximum of DOM nodes per message, for its code blocks and for everything else. */
const MOST_NODES = 4_000;
/** DOM nodes of a code block with its header. */
const CODE_NODES = 8;
/** Fixed cost in nodes of a formula, and of each part of a message. */
const FORMULA_NODES = 18;
const PART_NODES = 4;
/** Additional cost of a part with possible raw HTML, because it is sanitized separately. */
const HTML_NODES = 8;

const MARKER = /^ {0,99}(?:[-+*]|\d{1,9}[.)])(?:[ \t]|$)/;
const FENCE = /^ {0,99}(`{3,99}|~{3,99})/;
const RAW = /^ {0,3}<(script|style|pre|textarea|!--)/i;

/**
 * Splits a text into parts that can be rendered separately, in one pass over its lines. Later text changes only the last
 * part, so a growing text renders only its last part again.
 */
export function split(text: string): Part[] {
	return new Splitter(text).run();
}

class Splitter {
	#parts: Part[] = [];
	#nodes = 0;
	/** DOM nodes of the code blocks, which are counted apart: long prose before a block must not cost its copy button. */
	#codes = 0;
	/** Start of the open part; -1 between parts. */
	#start = -1;
	#joined = false;
	/** The open part is a list or a quotation, which continues across blank lines. */
	#list = false;
	#indented = false;
	#prose = true;
	#blank = false;
	#deepest = 0;
	#fence: { mark: string; alone: boolean; at: number } | null = null;
	/** Where the code blocks inside the open list begin and end. */
	#inside: [number, number][] = [];
	/** The open part is only a code block. */
	#code = false;
	/** The text that ends the raw HTML of the open part; empty outside raw HTML. */
	#raw = "";
	/** How much more text outside code blocks may be Markdown. */
	#room = MARKDOWN_LIMIT;
	/** Start of the plain text beyond the limit; -1 before the limit. */
	#beyond = -1;

	constructor(private readonly text: string) {}

	run(): Part[] {
		for (let at = 0; at < this.text.length; ) {
			const end = this.text.indexOf("\n", at);
			const next = end < 0 ? this.text.length : end + 1;
			this.#line(at, this.text.slice(at, end < 0 ? next : end), next);
			at = next;
		}
		if (this.#beyond < 0) this.#flush(this.text.length);
		else this.#flushPlain(this.text.length);
		return this.#parts;
	}

	#line(at: number, line: string, next: number): void {
		if (this.#fence) return this.#inFence(line, next);
		if (this.#beyond >= 0) return void this.#fenced(at, line, indentation(line));
		if (next - at > this.#room) return this.#passLimit(at, line);
		this.#room -= next - at;
		if (this.#raw !== "") {
			if (line.toLowerCase().includes(this.#raw)) this.#raw = "";
			return;
		}
		if (line.trim() === "") {
			this.#blank = this.#start >= 0;
			return;
		}
		const marker = MARKER.test(line);
		const indent = indentation(line);
		if (this.#blank && !(this.#list && (marker || indent >= 2)) && !(this.#indented && indent >= 4)) this.#flush(at);
		if (at - this.#start > LONG && this.#canBreak(line, marker, indent)) this.#breakAt(at);
		this.#blank = false;
		if (this.#fenced(at, line, indent)) return;
		if (this.#start < 0) this.#begin(at, line, indent);
		if (marker) this.#list = true;
		if (marker || /^\s*[|>#]/.test(line)) this.#prose = false;
		this.#deepest = Math.max(this.#deepest, depth(line));
	}

	/** Ends the Markdown at the limit, within a line if it is long. A code block may begin with this line. */
	#passLimit(at: number, line: string): void {
		const end = whole(this.text, at + this.#room);
		const code = FENCE.test(line);
		if (!code && end > at) this.#line(at, this.text.slice(at, end), end);
		this.#flush(code ? at : end);
		[this.#raw, this.#beyond] = ["", code ? at : end];
		this.#joined = true;
		if (code) this.#fenced(at, line, indentation(line));
	}

	#flushPlain(end: number): void {
		if (this.#start >= 0) return this.#flush(end);
		this.#parts.push(...plainly(this.text, this.#beyond, end, this.#joined));
		this.#joined = false;
	}

	#begin(at: number, line: string, indent: number): void {
		this.#start = at;
		this.#indented = indent >= 4;
		if (this.#indented) this.#prose = false;
		const raw = RAW.exec(line)?.[1]?.toLowerCase();
		if (raw === undefined) return;
		this.#prose = false;
		const end = raw === "!--" ? "-->" : `</${raw}`;
		if (!line.toLowerCase().includes(end)) this.#raw = end;
	}

	#inFence(line: string, next: number): void {
		const { mark, alone, at } = this.#fence ?? { mark: "", alone: false, at: next };
		const closing = line.trim();
		if (!closing.startsWith(mark) || closing.replaceAll(mark.charAt(0), "") !== "") return;
		this.#fence = null;
		if (alone) this.#flush(next);
		else this.#inside.push([at, next]);
		if (this.#beyond >= 0) this.#beyond = next;
	}

	/** Whether the line opens a code block. Outside lists, a code block is a separate part. */
	#fenced(at: number, line: string, indent: number): boolean {
		const mark = FENCE.exec(line)?.[1];
		if (mark === undefined || (mark.startsWith("`") && line.trim().slice(mark.length).includes("`"))) return false;
		const inList = this.#list && indent >= 2;
		if (indent >= 4 && !inList) return false;
		if (!inList) {
			if (this.#beyond >= 0) this.#flushPlain(at);
			this.#flush(at);
			this.#start = at;
			this.#code = true;
		}
		this.#prose = false;
		this.#fence = { mark, alone: !inList, at };
		return true;
	}

	#canBreak(line: string, marker: boolean, indent: number): boolean {
		if (this.#start < 0) return false;
		if (this.#list) return marker && indent < 2;
		return this.#prose || line.startsWith(">");
	}

	#breakAt(at: number): void {
		this.#flush(at);
		this.#joined = true;
	}

	#flush(end: number): void {
		// A code block of a list that is still open goes on to the end.
		if (this.#fence && !this.#fence.alone) this.#inside.push([this.#fence.at, end]);
		if (this.#start >= 0) this.#push(this.#start, end);
		this.#inside = [];
		[this.#start, this.#list, this.#indented, this.#prose, this.#blank, this.#deepest, this.#code] = [-1, false, false, true, false, 0, false];
	}

	#push(at: number, end: number): void {
		const text = this.text.slice(at, end);
		const { nodes, seeking } = this.#code ? { nodes: 0, seeking: 0 } : weigh(this.#withoutCode(at, end), this.#list);
		this.#nodes += nodes;
		this.#codes += CODE_NODES * (this.#code ? 1 : this.#inside.length);
		const joined = this.#joined;
		this.#joined = false;
		if (this.#deepest > DEEPEST || seeking > MOST_SEEKING || (this.#code ? this.#codes : this.#nodes) > MOST_NODES) this.#pushPlain(at, end, joined);
		else this.#parts.push({ at, text, kind: this.#prose ? "prose" : "block", joined });
	}

	/** The text of a part without the code blocks of its lists, whose lines need no nodes of their own. */
	#withoutCode(at: number, end: number): string {
		const ends = [at, ...this.#inside.map(([, after]) => after)];
		const starts = [...this.#inside.map(([before]) => before), end];
		return ends.map((from, index) => this.text.slice(from, starts[index])).join("");
	}

	/** Merges short plain parts, because many tiny parts would render slowly. */
	#pushPlain(at: number, end: number, joined: boolean): void {
		const before = this.#parts.at(-1);
		const merged = before?.kind === "plain" && end - before.at <= LONG ? this.#parts.pop() : undefined;
		this.#parts.push(...plainly(this.text, merged?.at ?? at, end, merged?.joined ?? joined));
	}
}

/** Splits a range of text into plain parts, at a line break or space if possible. */
function plainly(text: string, from: number, end: number, joined: boolean): Part[] {
	const parts: Part[] = [];
	for (let at = from; at < end; ) {
		const most = Math.min(end, at + LONG);
		const stop = most === end ? end : (gap(text, "\n", at, most) ?? gap(text, " ", at, most) ?? whole(text, most));
		parts.push({ at, text: text.slice(at, stop), kind: "plain", joined: joined || at > from });
		at = stop;
	}
	return parts;
}

function gap(text: string, mark: string, from: number, most: number): number | undefined {
	const at = text.lastIndexOf(mark, most - 1);
	return at > from ? at + 1 : undefined;
}

/** Moves a position that would split a surrogate pair. */
function whole(text: string, at: number): number {
	return /[\udc00-\udfff]/.test(text.charAt(at)) && /[\ud800-\udbff]/.test(text.charAt(at - 1)) ? at - 1 : at;
}

function indentation(line: string): number {
	let width = 0;
	for (const character of line) {
		if (character === " ") width += 1;
		else if (character === "\t") width += 4;
		else break;
	}
	return width;
}

/** The number of nested lists and quotations at the start of the line. */
function depth(line: string): number {
	let [found, at, blanks] = [0, 0, 0];
	for (;;) {
		while (line[at] === " " || line[at] === "\t") {
			at += 1;
			blanks += 1;
		}
		if (line[at] === ">") at += 1;
		else if (/[-+*]/.test(line[at] ?? "") && /[ \t]/.test(line[at + 1] ?? " ")) at += 1;
		else {
			const number = /^\d{1,9}[.)](?=[ \t]|$)/.exec(line.slice(at, at + 11));
			if (!number) break;
			at += number[0].length;
		}
		found += 1;
	}
	return found === 0 ? 0 : found + Math.floor(blanks / 4);
}

/** Estimates the DOM nodes of a text, and the parser's search effort for the ends of its marks. */
function weigh(text: string, list: boolean): { nodes: number; seeking: number } {
	let [marks, lines, seeking, inside, begun] = [0, 0, 0, 0, 0];
	for (let at = 0; at <= text.length; at++) {
		const line = text[at] === "\n";
		if (at === text.length || (line && /[-+*|\d]/.test(text[at + 1] ?? ""))) {
			seeking = Math.max(seeking, inside * (at - begun));
			marks += inside;
			[inside, begun] = [0, at];
		}
		if (line) lines += 1;
		else if (isMark(text.charCodeAt(at))) inside += 1;
	}
	return { nodes: PART_NODES + (text.includes("<") ? HTML_NODES : 0) + lines * (list ? 3 : 1.5) + marks / 2 + formulaNodes(text), seeking };
}

/** Estimates the DOM nodes of the formulas in a text. */
function formulaNodes(text: string): number {
	let [nodes, open] = [0, -1];
	for (const { 0: mark, index } of text.matchAll(/\$\$|\\[[\]()]/g)) {
		const closes = open >= 0 && (mark === "$$" || mark === "\\)" || mark === "\\]");
		if (closes) nodes += FORMULA_NODES + (index - open) / 2;
		open = closes ? -1 : index;
	}
	return nodes;
}

/** Whether a character can be Markdown, math or a quote. Other non-ASCII characters are never marks. */
function isMark(code: number): boolean {
	return MARKS.has(code);
}

const MARKS = new Set([..."*_`~[]()<>!|&\\$\"“”„«»「」『』‹›:@#"].map((mark) => mark.charCodeAt(0)));
