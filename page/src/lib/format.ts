// Numbers and dates by the browser's locale.

const locale = navigator.languages?.length ? [...navigator.languages] : undefined;
const numbers = new Intl.NumberFormat(locale);
const short = new Intl.NumberFormat(locale, { notation: 'compact', maximumFractionDigits: 1 });
const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'narrow' });
const clock = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit' });
const dayOnly = new Intl.DateTimeFormat(locale, { weekday: 'long', day: 'numeric', month: 'long' });
const dayAndYear = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', year: 'numeric' });
const shortDay = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short' });
const monthAndYear = new Intl.DateTimeFormat(locale, { month: 'short', year: 'numeric' });
const full = new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'medium' });
const exactNumber = new Intl.NumberFormat(locale, { maximumFractionDigits: 4 });

export const number = (value: number) => numbers.format(value);
export const compact = (value: number) => short.format(value);
export const exact = (value: number) => exactNumber.format(value);

export function bytes(value: number): string {
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte'];
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return new Intl.NumberFormat(locale, { style: 'unit', unit: units[unit], unitDisplay: 'short', maximumFractionDigits: unit ? 1 : 0 }).format(value);
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export function age(time: string | number, now = Date.now()): string {
  const passed = now - new Date(time).getTime();
  if (Number.isNaN(passed)) return '';
  if (passed < 0) return when(time, now);
  if (passed < 45_000) return relative.format(0, 'second');
  if (passed < HOUR) return relative.format(-Math.round(passed / MINUTE), 'minute');
  if (passed < DAY) return relative.format(-Math.round(passed / HOUR), 'hour');
  if (passed < 30 * DAY) return relative.format(-Math.round(passed / DAY), 'day');
  return dayAndYear.format(new Date(time));
}

function startOfDay(time: number): number {
  return new Date(time).setHours(0, 0, 0, 0);
}

/** A day as people name it: today, yesterday, a weekday and date. */
export function day(time: string | number, now = Date.now()): string {
  const date = new Date(time);
  const days = Math.round((startOfDay(date.getTime()) - startOfDay(now)) / DAY);
  if (Math.abs(days) <= 1) return new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }).format(days, 'day');
  return date.getFullYear() === new Date(now).getFullYear() ? dayOnly.format(date) : dayAndYear.format(date);
}

/** "yesterday 18:04". */
export function when(time: string | number, now = Date.now()): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return '';
  const days = Math.abs(startOfDay(date.getTime()) - startOfDay(now)) / DAY;
  if (days <= 1.1) return `${day(time, now)} ${clock.format(date)}`;
  return `${dayAndYear.format(date)} ${clock.format(date)}`;
}

export const hour = (time: string | number) => clock.format(new Date(time));
export const month = (time: string | number) => monthAndYear.format(new Date(time));
export const date = (time: string | number) => dayAndYear.format(new Date(time));

const unit = (value: number, name: string) => new Intl.NumberFormat(locale, { style: 'unit', unit: name, unitDisplay: 'short' }).format(value);

/** A day without its year if the year is this one: for narrow columns. */
export function briefDate(time: string | number, now = Date.now()): string {
  const at = new Date(time);
  const passed = now - at.getTime();
  if (passed < HOUR) return unit(Math.max(0, Math.round(passed / MINUTE)), 'minute');
  if (passed < DAY) return unit(Math.round(passed / HOUR), 'hour');
  if (at.getFullYear() === new Date(now).getFullYear()) return shortDay.format(at);
  return monthAndYear.format(at);
}

/** The time of a field of the browser, as the server reads it; null if it is none. */
export function utcTime(local: string): string | null {
  const at = new Date(local);
  return local && !Number.isNaN(at.getTime()) ? at.toISOString() : null;
}

/** A moment as a `datetime-local` field of the browser has it. */
export function localMinute(time: number): string {
  return new Date(time - new Date(time).getTimezoneOffset() * MINUTE).toISOString().slice(0, 16);
}

export function moment(time: string | number): string {
  const at = new Date(time);
  return Number.isNaN(at.getTime()) ? '' : full.format(at);
}

export function count(value: number, one: string, many: string): string {
  return `${number(value)} ${value === 1 ? one : many}`;
}

/** A cron schedule in words, if it is one of the usual ones. */
export function schedule(cron: string): string {
  const [minute = '', hours = '', dayOfMonth = '', monthNumber = '', weekday = '', more] = cron.trim().split(/\s+/);
  const isNumber = (text: string) => /^\d+$/.test(text);
  if (more !== undefined || !isNumber(minute) || !isNumber(hours)) return cron;
  const at = clock.format(new Date(2024, 0, 1, Number(hours), Number(minute)));
  const rest = `${dayOfMonth} ${monthNumber} ${weekday}`;
  if (rest === '* * *') return `every day, ${at}`;
  if (dayOfMonth === '*' && monthNumber === '*' && isNumber(weekday)) {
    return `every ${new Intl.DateTimeFormat(locale, { weekday: 'long' }).format(new Date(2024, 0, 7 + Number(weekday)))}, ${at}`;
  }
  if (isNumber(dayOfMonth) && weekday === '*') {
    if (monthNumber === '*') return `day ${dayOfMonth} of every month, ${at}`;
    if (isNumber(monthNumber)) {
      const named = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'long' }).format(new Date(2024, Number(monthNumber) - 1, Number(dayOfMonth)));
      return `every year on ${named}, ${at}`;
    }
  }
  return cron;
}
