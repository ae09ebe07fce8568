// Draws all memories as points on a canvas. Positions come from the server and never move; the
// picture is drawn when something changed, and never otherwise.

import { look } from './agents';
import { colours, movesLittle } from './frame.svelte';
import type { MapAnswer } from './types';

export type ColourBy = 'project' | 'agent' | 'age' | 'read';

const DAY_S = 86_400;
const MANY = 6000;
const FLARE_MS = 2600;
const GRID = 64;
const PALETTE = ['--a0', '--a1', '--a2', '--a3', '--a4', '--a5', '--a6', '--a7'];
const STEPS = 6;

interface Scale { ratio: number; width: number; height: number; kx: number; ky: number; ox: number; oy: number; cx: number; cy: number }
export interface Label { index: number; text: string }

export class Sky {
  count = 0;
  colourBy: ColourBy = 'agent';
  /** Only what was written up to this moment (unix seconds) is drawn. */
  until = Infinity;
  /** If set, points whose byte is 0 are dimmed. */
  lit: Uint8Array | null = null;
  chosen = -1;
  links: [number, number][] = [];
  labels: Label[] = [];
  hulls = true;
  /** How much longer one direction may be drawn than the other, so that the picture fills its box. */
  maxStretch = Infinity;
  /** Strength of the lines, from 0 to 1. */
  linkStrength = 0.28;
  zoom = 1;
  centreX = 0.5;
  centreY = 0.5;

  #canvas: HTMLCanvasElement;
  #context: CanvasRenderingContext2D;
  #data: MapAnswer | null = null;
  #x = new Float32Array(0);
  #y = new Float32Array(0);
  #created = new Float64Array(0);
  #updated = new Float64Array(0);
  #colour = new Uint8Array(0);
  #alpha = new Uint8Array(0);
  #cells: Int32Array[] = [];
  #indexOf = new Map<number, number>();
  #flares: { index: number; start: number; colour: string }[] = [];
  #palette: [number, number, number][] = [];
  #ink: [number, number, number] = [0, 0, 0];
  #ground: [number, number, number] = [255, 255, 255];
  #soft = '';
  #frame = 0;
  #box = { left: 0, top: 0, width: 1, height: 1 };
  #image: ImageData | null = null;
  lastFrameMs = 0;

  constructor(canvas: HTMLCanvasElement) {
    this.#canvas = canvas;
    this.#context = canvas.getContext('2d')!;
    this.readTheme();
  }

  readTheme() {
    const [ink, ground, soft, accent, ...palette] = colours(['--ink', '--sunk', '--soft', '--accent', ...PALETTE]);
    this.#ink = ink!;
    this.#ground = ground!;
    this.#soft = `rgb(${soft!.join(' ')})`;
    // From old to new: from the colour of soft ink to the accent.
    const ramp = Array.from({ length: STEPS }, (_, step) => {
      const share = step / (STEPS - 1);
      return soft!.map((from, at) => Math.round(from + (accent![at]! - from) * share)) as [number, number, number];
    });
    this.#palette = [...palette, ...ramp];
    this.#paint();
    this.ask();
  }

  get data(): MapAnswer | null {
    return this.#data;
  }

  /** Takes new columns; answers with the points that were not there or were older before. */
  set(data: MapAnswer): number[] {
    const before = this.#indexOf;
    const beforeUpdated = this.#updated;
    const { columns } = data;
    const count = columns.id.length;
    const fresh: number[] = [];
    this.#indexOf = new Map();
    for (let at = 0; at < count; at += 1) {
      const id = columns.id[at]!;
      this.#indexOf.set(id, at);
      const old = before.get(id);
      if (old === undefined || beforeUpdated[old]! < columns.updated[at]!) fresh.push(at);
    }
    // Links name points by their places in the columns, which may have moved.
    const ids = this.#data?.columns.id ?? [];
    this.links = this.links.map(([from, to]): [number, number] => [this.indexOf(ids[from]!), this.indexOf(ids[to]!)]).filter(([from, to]) => from >= 0 && to >= 0);
    this.#data = data;
    this.count = count;
    this.#x = Float32Array.from(columns.x);
    this.#y = Float32Array.from(columns.y);
    this.#created = Float64Array.from(columns.created);
    this.#updated = Float64Array.from(columns.updated);
    this.#colour = new Uint8Array(count);
    this.#alpha = new Uint8Array(count);
    this.#frameBox();
    this.#sort();
    this.#paint();
    this.ask();
    return before.size ? fresh : [];
  }

  indexOf(id: number): number {
    return this.#indexOf.get(id) ?? -1;
  }

  #frameBox() {
    let left = 1, top = 1, right = 0, bottom = 0;
    for (const disc of this.#data!.projects) {
      left = Math.min(left, disc.x - disc.r);
      right = Math.max(right, disc.x + disc.r);
      top = Math.min(top, disc.y - disc.r);
      bottom = Math.max(bottom, disc.y + disc.r);
    }
    if (right <= left || bottom <= top) [left, top, right, bottom] = [0, 0, 1, 1];
    // Coarse steps, so that one more memory does not shift the picture.
    const low = (value: number) => Math.floor(value * 50) / 50;
    const high = (value: number) => Math.ceil(value * 50) / 50;
    this.#box = { left: low(left), top: low(top), width: high(right) - low(left), height: high(bottom) - low(top) };
  }

  #sort() {
    const lists: number[][] = Array.from({ length: GRID * GRID }, () => []);
    for (let at = 0; at < this.count; at += 1) lists[this.#cell(this.#x[at]!, this.#y[at]!)]!.push(at);
    this.#cells = lists.map((list) => Int32Array.from(list));
  }

  #cell(x: number, y: number): number {
    const column = Math.min(GRID - 1, Math.max(0, Math.floor(x * GRID)));
    const row = Math.min(GRID - 1, Math.max(0, Math.floor(y * GRID)));
    return row * GRID + column;
  }

  /** Chooses the colour of each point. */
  #paint() {
    const data = this.#data;
    if (!data) return;
    const now = Date.now() / 1000;
    const agents = data.agents.map((agent) => look(agent).colour);
    const { project, agent, read } = data.columns;
    const step = (time: number) => {
      if (!time) return 8;
      const days = Math.max(0, (now - time) / DAY_S);
      return 8 + Math.max(0, STEPS - 1 - Math.floor(Math.log2(1 + days / 2)));
    };
    for (let at = 0; at < this.count; at += 1) {
      const days = (now - this.#updated[at]!) / DAY_S;
      this.#alpha[at] = days < 30 ? 255 : days < 180 ? 150 : 90;
      if (this.colourBy === 'project') this.#colour[at] = project[at]! % 8;
      else if (this.colourBy === 'agent') this.#colour[at] = agents[agent[at]!] ?? 7;
      else if (this.colourBy === 'age') this.#colour[at] = step(this.#updated[at]!);
      else this.#colour[at] = step(read[at]!);
      if (this.colourBy === 'age' || this.colourBy === 'read') this.#alpha[at] = 230;
    }
  }

  repaint() {
    this.#paint();
    this.ask();
  }

  flare(index: number, agentKey: string) {
    const [red, green, blue] = this.#palette[look(agentKey).colour]!;
    this.#flares.push({ index, start: performance.now(), colour: `${red} ${green} ${blue}` });
    this.ask();
  }

  /** Draws at the next frame. */
  ask() {
    if (!this.#frame) this.#frame = requestAnimationFrame(() => this.#draw());
  }

  stop() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.#flares = [];
  }

  #scale(): Scale {
    const ratio = devicePixelRatio || 1;
    const width = this.#canvas.clientWidth;
    const height = this.#canvas.clientHeight;
    const pad = Math.min(40, height * 0.11);
    let kx = ((width - 2 * pad) / this.#box.width) * this.zoom;
    let ky = ((height - 2 * pad) / this.#box.height) * this.zoom;
    kx = Math.min(kx, ky * this.maxStretch);
    ky = Math.min(ky, kx * this.maxStretch);
    return {
      ratio, width, height, kx, ky,
      ox: width / 2, oy: height / 2,
      cx: this.#box.left + this.centreX * this.#box.width,
      cy: this.#box.top + this.centreY * this.#box.height,
    };
  }

  toScreen(x: number, y: number): [number, number] {
    const s = this.#scale();
    return [s.ox + (x - s.cx) * s.kx, s.oy + (y - s.cy) * s.ky];
  }

  pointOnScreen(index: number): [number, number] {
    return this.toScreen(this.#x[index]!, this.#y[index]!);
  }

  pan(dx: number, dy: number) {
    const s = this.#scale();
    this.centreX -= dx / s.kx / this.#box.width;
    this.centreY -= dy / s.ky / this.#box.height;
    this.ask();
  }

  zoomAt(factor: number, px: number, py: number) {
    const s = this.#scale();
    const zoom = Math.min(60, Math.max(0.8, this.zoom * factor));
    const x = (px - s.ox) / s.kx + s.cx;
    const y = (py - s.oy) / s.ky + s.cy;
    this.zoom = zoom;
    const after = this.#scale();
    this.centreX = (x - (px - after.ox) / after.kx - this.#box.left) / this.#box.width;
    this.centreY = (y - (py - after.oy) / after.ky - this.#box.top) / this.#box.height;
    this.ask();
  }

  reset() {
    this.zoom = 1;
    this.centreX = 0.5;
    this.centreY = 0.5;
    this.ask();
  }

  /** The nearest drawn point within reach of a position, or -1. */
  pick(px: number, py: number, reach = 14): number {
    if (!this.#data) return -1;
    const s = this.#scale();
    const x = (px - s.ox) / s.kx + s.cx;
    const y = (py - s.oy) / s.ky + s.cy;
    const dx = reach / s.kx, dy = reach / s.ky;
    let best = -1;
    let bestAway = reach * reach;
    this.#each(x - dx, y - dy, x + dx, y + dy, (at) => {
      if (this.#created[at]! > this.until) return;
      const away = ((this.#x[at]! - x) * s.kx) ** 2 + ((this.#y[at]! - y) * s.ky) ** 2;
      if (away < bestAway) {
        best = at;
        bestAway = away;
      }
    });
    return best;
  }

  #each(left: number, top: number, right: number, bottom: number, see: (at: number) => void) {
    const first = this.#cell(left, top), last = this.#cell(right, bottom);
    for (let row = Math.floor(first / GRID); row <= Math.floor(last / GRID); row += 1) {
      for (let column = first % GRID; column <= last % GRID; column += 1) {
        for (const at of this.#cells[row * GRID + column]!) see(at);
      }
    }
  }

  /** Points in view, those with most links first. */
  inView(limit: number): number[] {
    if (!this.#data) return [];
    const s = this.#scale();
    const found: number[] = [];
    const w = s.ox / s.kx, h = s.oy / s.ky;
    this.#each(s.cx - w, s.cy - h, s.cx + w, s.cy + h, (at) => {
      if (this.#created[at]! > this.until) return;
      if (Math.abs(this.#x[at]! - s.cx) <= w && Math.abs(this.#y[at]! - s.cy) <= h) found.push(at);
    });
    const { degree } = this.#data.columns;
    found.sort((a, b) => degree[b]! - degree[a]! || this.#updated[b]! - this.#updated[a]!);
    return found.slice(0, limit);
  }

  shown(): number {
    if (this.until === Infinity) return this.count;
    let shown = 0;
    for (let at = 0; at < this.count; at += 1) if (this.#created[at]! <= this.until) shown += 1;
    return shown;
  }

  #draw() {
    this.#frame = 0;
    const begun = performance.now();
    const s = this.#scale();
    if (!s.width || !s.height) return;
    const width = Math.round(s.width * s.ratio), height = Math.round(s.height * s.ratio);
    if (this.#canvas.width !== width || this.#canvas.height !== height) {
      this.#canvas.width = width;
      this.#canvas.height = height;
      this.#image = null;
    }
    const context = this.#context;
    context.setTransform(s.ratio, 0, 0, s.ratio, 0, 0);
    context.clearRect(0, 0, s.width, s.height);
    if (!this.#data) return;
    if (this.count > MANY) this.#drawMany(s, width, height);
    else this.#drawFew(s);
    this.#drawOver(s);
    this.lastFrameMs = performance.now() - begun;
    if (this.#flares.length) this.ask();
  }

  #radius(): number {
    const base = this.count < 60 ? 3.6 : this.count < 300 ? 2.9 : this.count < 1500 ? 2.1 : 1.5;
    return base * Math.min(2.4, Math.sqrt(this.zoom));
  }

  #drawFew(s: Scale) {
    const context = this.#context;
    this.#drawHulls(s);
    const { degree } = this.#data!.columns;
    const base = this.#radius();
    for (let at = 0; at < this.count; at += 1) {
      if (this.#created[at]! > this.until) continue;
      const x = s.ox + (this.#x[at]! - s.cx) * s.kx, y = s.oy + (this.#y[at]! - s.cy) * s.ky;
      if (x < -9 || y < -9 || x > s.width + 9 || y > s.height + 9) continue;
      const [red, green, blue] = this.#palette[this.#colour[at]!]!;
      const dim = this.lit && !this.lit[at] ? 0.12 : 1;
      const alpha = (this.#alpha[at]! / 255) * dim;
      const radius = base * (0.8 + 0.22 * Math.log2(1 + degree[at]!));
      if (alpha > 0.8) {
        context.fillStyle = `rgb(${red} ${green} ${blue} / ${0.13 * alpha})`;
        context.beginPath();
        context.arc(x, y, radius * 2.6, 0, 7);
        context.fill();
      }
      context.fillStyle = `rgb(${red} ${green} ${blue} / ${alpha})`;
      context.beginPath();
      context.arc(x, y, radius, 0, 7);
      context.fill();
    }
  }

  #drawMany(s: Scale, width: number, height: number) {
    this.#image ??= this.#context.createImageData(width, height);
    const pixels = new Uint32Array(this.#image.data.buffer);
    pixels.fill(0);
    // Two strengths of each colour, mixed with the ground beforehand.
    const mixes = [1, 0.62, 0.14].map((share) =>
      Uint32Array.from(this.#palette, (colour) => {
        const [red, green, blue] = colour.map((part, at) => Math.round(part * share + this.#ground[at]! * (1 - share)));
        return (255 << 24) | (blue! << 16) | (green! << 8) | red!;
      }),
    );
    // The picture keeps its strength: points share a tenth of the area, and grow with the zoom.
    const room = Math.sqrt((0.1 * width * height) / this.count) * Math.min(2.4, Math.sqrt(this.zoom));
    const size = Math.max(1, Math.min(Math.round(6 * s.ratio), Math.round(room)));
    const paint = (at: number, side: number, mix: number) => {
      if (this.#created[at]! > this.until) return;
      const half = side >> 1;
      const x = Math.round((s.ox + (this.#x[at]! - s.cx) * s.kx) * s.ratio) - half;
      const y = Math.round((s.oy + (this.#y[at]! - s.cy) * s.ky) * s.ratio) - half;
      if (x < 0 || y < 0 || x + side > width || y + side > height) return;
      const colour = mixes[mix]![this.#colour[at]!]!;
      for (let row = 0; row < side; row += 1) {
        const start = (y + row) * width + x;
        for (let column = 0; column < side; column += 1) pixels[start + column] = colour;
      }
    };
    const { lit } = this;
    for (let at = 0; at < this.count; at += 1) if (!lit?.[at]) paint(at, size, lit ? 2 : this.#alpha[at]! > 200 ? 0 : 1);
    // What is lit lies above the rest, and is larger.
    if (lit) for (let at = 0; at < this.count; at += 1) if (lit[at]) paint(at, size + Math.round(3 * s.ratio), 0);
    this.#context.putImageData(this.#image, 0, 0);
    this.#drawHulls(s);
  }

  #drawHulls(s: Scale) {
    const context = this.#context;
    const [red, green, blue] = this.#ink;
    for (const disc of this.#data!.projects) {
      const x = s.ox + (disc.x - s.cx) * s.kx, y = s.oy + (disc.y - s.cy) * s.ky;
      if (this.hulls) {
        context.strokeStyle = `rgb(${red} ${green} ${blue} / 0.09)`;
        context.fillStyle = `rgb(${red} ${green} ${blue} / 0.022)`;
        context.lineWidth = 1;
        context.beginPath();
        context.ellipse(x, y, disc.r * s.kx, disc.r * s.ky, 0, 0, 7);
        if (this.count <= MANY) context.fill();
        context.stroke();
      }
    }
  }

  #drawOver(s: Scale) {
    const context = this.#context;
    const [red, green, blue] = this.#ink;
    const at = (index: number): [number, number] => [s.ox + (this.#x[index]! - s.cx) * s.kx, s.oy + (this.#y[index]! - s.cy) * s.ky];
    if (this.links.length) {
      context.strokeStyle = `rgb(${red} ${green} ${blue} / ${this.linkStrength})`;
      context.lineWidth = 0.8;
      context.beginPath();
      for (const [from, to] of this.links) {
        if (this.#created[from]! > this.until || this.#created[to]! > this.until) continue;
        context.moveTo(...at(from));
        context.lineTo(...at(to));
      }
      context.stroke();
    }
    this.#drawNames(s, at);
    if (this.chosen >= 0 && this.chosen < this.count) {
      const [x, y] = at(this.chosen);
      context.strokeStyle = `rgb(${red} ${green} ${blue})`;
      context.lineWidth = 1.6;
      context.beginPath();
      context.arc(x, y, this.#radius() + 5, 0, 7);
      context.stroke();
    }
    const now = performance.now();
    const still = movesLittle();
    this.#flares = this.#flares.filter((flare) => now - flare.start < FLARE_MS * (still ? 2 : 1));
    for (const flare of this.#flares) {
      const share = still ? 0.35 : (now - flare.start) / FLARE_MS;
      const [x, y] = at(flare.index);
      for (const [radius, alpha] of [[6 + 30 * share, 0.4 * (1 - share)], [4 + 13 * share, 0.75 * (1 - share)], [4.5, 1]] as const) {
        context.fillStyle = `rgb(${flare.colour} / ${alpha})`;
        context.beginPath();
        context.arc(x, y, radius, 0, 7);
        context.fill();
      }
    }
  }

  #drawNames(s: Scale, at: (index: number) => [number, number]) {
    const context = this.#context;
    const taken: [number, number, number, number][] = [];
    const fits = (left: number, top: number, width: number, height: number) => {
      if (left < 2 || top < 2 || left + width > s.width - 2 || top + height > s.height - 2) return false;
      if (taken.some(([l, t, w, h]) => left < l + w && left + width > l && top < t + h && top + height > t)) return false;
      taken.push([left, top, width, height]);
      return true;
    };
    // A rim in the colour of the ground keeps names readable over points.
    const write = (text: string, x: number, y: number) => {
      context.strokeText(text, x, y);
      context.fillText(text, x, y);
    };
    context.textBaseline = 'middle';
    context.lineJoin = 'round';
    context.lineWidth = 4;
    context.strokeStyle = `rgb(${this.#ground.join(' ')} / 0.85)`;
    const serif = getComputedStyle(this.#canvas).fontFamily;
    context.font = `italic 15px ${serif}`;
    context.fillStyle = this.#soft;
    for (const disc of [...this.#data!.projects].sort((a, b) => b.count - a.count)) {
      const text = disc.name.length > 28 ? `${disc.name.slice(0, 27)}…` : disc.name;
      const width = context.measureText(text).width;
      const x = s.ox + (disc.x - s.cx) * s.kx - width / 2;
      const middle = s.oy + (disc.y - s.cy) * s.ky;
      for (const y of [middle - disc.r * s.ky - 10, middle + disc.r * s.ky + 10, middle - disc.r * s.ky + 12, middle]) {
        const left = Math.min(Math.max(4, x), s.width - width - 4);
        if (fits(left, y - 10, width, 20)) {
          write(text, left, y);
          break;
        }
      }
    }
    context.font = `13px ${serif}`;
    const [red, green, blue] = this.#ink;
    context.fillStyle = `rgb(${red} ${green} ${blue} / 0.9)`;
    for (const label of this.labels) {
      if (label.index < 0 || this.#created[label.index]! > this.until) continue;
      const [x, y] = at(label.index);
      const text = label.text.length > 34 ? `${label.text.slice(0, 33)}…` : label.text;
      const width = context.measureText(text).width;
      if (fits(x + 8, y - 9, width, 18)) write(text, x + 8, y);
    }
  }

  /** The picture as a PNG with its ground. */
  async poster(): Promise<Blob | null> {
    const copy = document.createElement('canvas');
    copy.width = this.#canvas.width;
    copy.height = this.#canvas.height;
    const context = copy.getContext('2d')!;
    context.fillStyle = `rgb(${this.#ground.join(' ')})`;
    context.fillRect(0, 0, copy.width, copy.height);
    context.drawImage(this.#canvas, 0, 0);
    return new Promise((resolve) => copy.toBlob(resolve, 'image/png'));
  }

  /** The picture as SVG text. */
  posterSvg(): string {
    const s = this.#scale();
    const escape = (text: string) => text.replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`);
    const lines = [`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${s.width} ${s.height}">`,
      `<rect width="100%" height="100%" fill="rgb(${this.#ground.join(',')})"/>`];
    for (let at = 0; at < this.count; at += 1) {
      if (this.#created[at]! > this.until) continue;
      const [x, y] = this.pointOnScreen(at);
      lines.push(`<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="${this.#radius().toFixed(1)}" fill="rgb(${this.#palette[this.#colour[at]!]!.join(',')})" opacity="${(this.#alpha[at]! / 255).toFixed(2)}"/>`);
    }
    for (const disc of this.#data?.projects ?? []) {
      const [x, y] = this.toScreen(disc.x, disc.y - disc.r);
      lines.push(`<text x="${x.toFixed(1)}" y="${(y - 8).toFixed(1)}" text-anchor="middle" font-family="Georgia, serif" font-style="italic" font-size="15" fill="${this.#soft}">${escape(disc.name)}</text>`);
    }
    return [...lines, '</svg>', ''].join('\n');
  }
}
