import { now } from "./clock";
import { language, t } from "./i18n.svelte";

const UNITS = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"] as const;

/** Formatters by language and options: making one takes longer than drawing a message. */
const numbers = new Map<string, Intl.NumberFormat>();
const dates = new Map<string, Intl.DateTimeFormat>();

function numberFormat(options: Intl.NumberFormatOptions): Intl.NumberFormat {
	return kept(numbers, options, () => new Intl.NumberFormat(language(), options));
}

function dateFormat(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
	return kept(dates, options, () => new Intl.DateTimeFormat(language(), options));
}

function kept<Formatter>(formatters: Map<string, Formatter>, options: object, make: () => Formatter): Formatter {
	const key = `${language()} ${JSON.stringify(options)}`;
	const formatter = formatters.get(key) ?? make();
	formatters.set(key, formatter);
	return formatter;
}

export function number(value: number, digits = 0): string {
	return numberFormat({ maximumFractionDigits: digits }).format(value);
}

export function percent(fraction: number): string {
	return numberFormat({ style: "percent", maximumFractionDigits: 0 }).format(fraction);
}

export function seconds(ms: number): string {
	return t("figures.seconds", { shown: number(ms / 1000, ms < 10_000 ? 1 : 0) });
}

export function bytes(value: number): string {
	const step = Math.min(Math.floor(Math.log10(Math.max(value, 1)) / 3), UNITS.length - 1);
	const options = { style: "unit", unit: UNITS[step], unitDisplay: step === 0 ? "long" : "short", maximumFractionDigits: step > 2 ? 1 : 0 } as const;
	return numberFormat(options).format(value / 1000 ** step);
}

/** Formats a number of seconds in its largest unit, rounded up: `40 sec`, `3 min`, `2 hr`. */
export function duration(seconds: number): string {
	const [value, unit] = seconds < 60 ? [seconds, "second"] : seconds < 5400 ? [seconds / 60, "minute"] : [seconds / 3600, "hour"];
	return new Intl.NumberFormat(language(), { style: "unit", unit, unitDisplay: "short", maximumFractionDigits: 0 }).format(Math.ceil(value as number));
}

/** The name of a language by its code; the code itself if it is unknown. */
export function languageName(code: string): string {
	try {
		return new Intl.DisplayNames(language(), { type: "language" }).of(code) ?? code;
	} catch {
		return code;
	}
}

/** Formats a time as short as it stays clear: `now`, `5 min`, `14:03`, `Tue`, `3 Feb`, `3 Feb 2024`. */
export function when(iso: string, at = now()): string {
	const then = new Date(iso);
	const minutes = Math.floor((at.getTime() - then.getTime()) / 60_000);
	if (Number.isNaN(minutes)) return "";
	if (minutes < 1) return t("time.now");
	if (minutes < 60) return numberFormat({ style: "unit", unit: "minute", unitDisplay: "short" }).format(minutes);
	return dateFormat(shape(then, at, minutes)).format(then);
}

function shape(then: Date, now: Date, minutes: number): Intl.DateTimeFormatOptions {
	if (then.toDateString() === now.toDateString()) return { hour: "numeric", minute: "2-digit" };
	if (minutes < 6 * 24 * 60) return { weekday: "short" };
	if (then.getFullYear() === now.getFullYear()) return { day: "numeric", month: "short" };
	return { day: "numeric", month: "short", year: "numeric" };
}

/** Formats a date as month and year, such as "November 2026". */
export function month(iso: string): string {
	return dateFormat({ month: "long", year: "numeric" }).format(new Date(iso));
}

export function fullTime(iso: string): string {
	return dateFormat({ dateStyle: "long", timeStyle: "short" }).format(new Date(iso));
}
