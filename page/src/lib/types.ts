// Shapes of the page's API. The server's OpenAPI document is the reference.

export type Time = string;

export interface Vault { name: string; home: string; device: string }
export interface Place { project: string; path: string }
export interface Segment { text: string; hit: boolean }
export interface Agent { key: string; name: string }
export interface Listing<T> { items: T[]; next?: string | null; total?: number }

export interface FileMark extends Place {
  title: string;
  action: 'added' | 'changed' | 'moved' | 'deleted';
  moved_from?: string | null;
  exists: boolean;
  map_id?: number | null;
}

export interface Entry {
  commit: string;
  time: Time;
  agent: Agent;
  account?: string | null;
  token?: string | null;
  client: string;
  tool: string;
  channel: string;
  kind: 'write' | 'scan' | 'first-scan' | 'undo' | 'redo';
  message?: string | null;
  conversation: string;
  sentence: string;
  label?: string | null;
  line?: number | null;
  files: FileMark[];
  file_count: number;
  undone: boolean;
  undone_by?: string | null;
  can_undo: boolean;
  why_not?: string | null;
  target?: string | null;
}

export interface DiffLine {
  kind: 'kept' | 'removed' | 'added';
  before?: number | null;
  after?: number | null;
  words: { text: string; changed: boolean }[];
}
export interface DiffHunk { before: [number, number]; after: [number, number]; lines: DiffLine[] }
export interface FileDiff extends Place {
  title: string;
  moved_from?: string | null;
  action: string;
  hunks: DiffHunk[];
  before_hash?: string | null;
  after_hash?: string | null;
  binary: boolean;
  too_large: boolean;
}

export type WayIn = { kind: 'vault' } | { kind: 'team'; origin: string | null };
export type Role = 'reader' | 'proposer' | 'editor' | 'owner';
export interface Space { name: string; kind: 'private' | 'shared'; role: Role; access: 'read' | 'propose' | 'write' }
export interface Team { account: string; can_manage: boolean; spaces: Space[]; as_of?: Time | null }
export interface SpaceDetails extends Space {
  commits: number;
  bytes: number;
  quota_bytes?: number | null;
  members: { account: string; role: Role; since: Time }[];
  invitations: { email: string; role: Role; invited_by: string; expires_at: Time }[];
}
export interface Token {
  name: string;
  hint: string;
  access: 'read' | 'write';
  spaces: string[];
  created_at: Time;
  expires_at?: Time | null;
  used_at?: Time | null;
  revoked_at?: Time | null;
}
export interface TeamAnswer { account: string; can_manage: boolean; spaces: SpaceDetails[]; tokens?: Token[] }
export interface AuditEntry { at: Time; actor: string; action: string; target: string }
export interface Proposal { proposal: number; space: string; tool: string; arguments: Record<string, unknown>; account: string; client: string; proposed_at: Time }

export interface SessionAnswer { session: string; vault: Vault; read_only: boolean; can_manage: boolean; version: string }

export interface Status {
  vault: Vault;
  team?: Team | null;
  version: string;
  read_only: boolean;
  can_manage: boolean;
  head?: string | null;
  projects: { name: string; notes: number; folder: string; outside: boolean }[];
  /** The project that new notes go to. */
  default_project: string;
  counts: { notes: number; passages: number; observations: number; relations: number; unresolved: number; commits: number };
  log_bytes: number;
  watched: boolean;
  indexed: boolean;
  index: { state: 'whole' | 'building'; done: number; total: number };
  model?: { id: string; left: number } | null;
  problems: { code: string; detail: string; project?: string }[];
  agents: (Agent & { writes: number; last: Time })[];
}

export interface LedgerGroup {
  agent: Agent;
  conversation: string;
  title: string;
  first: Time;
  last: Time;
  channel: string;
  entries: Entry[];
}
export interface Reminder {
  project: string;
  path: string;
  id: string;
  text: string;
  due?: Time | null;
  next?: Time | null;
  repeats?: string | null;
  done: boolean;
  overdue: boolean;
  scope?: string;
  problem?: string | null;
}
export interface NowAnswer {
  since: { commit?: string | null; time: Time };
  head?: string | null;
  total: number;
  groups: LedgerGroup[];
  next?: string | null;
  due: Reminder[];
}
export interface Activity {
  from: string;
  to: string;
  days: number;
  agents: { agent: Agent; total: number; counts: number[] }[];
}

export interface Hit extends Place {
  title: Segment[];
  permalink: string;
  type: string;
  updated: Time;
  heading?: string | null;
  first_line: number;
  last_line: number;
  snippet: Segment[];
  score: number;
  relevance: number;
  why: { signal: string; amount: number }[];
  bar: { words: number; meaning: number; context: number; time: number; importance: number };
  also: Place[];
  map_id?: number | null;
}
export interface SearchAnswer {
  query: string;
  hits: Hit[];
  next?: string | null;
  has_more: boolean;
  relevance: number;
  corrections: { typed: string; meant: string }[];
  when?: { from: Time; to: Time } | null;
  meaning: { by: string; model?: string | null; left?: number | null; reason?: string | null };
  partial: boolean;
  nearest: Hit[];
  total_notes: number;
}
export interface AgentAnswer {
  tool: string;
  arguments: Record<string, unknown>;
  text: string;
  structured?: unknown;
  tokens: number;
  structured_tokens: number;
  is_error: boolean;
}
export interface NoteRef extends Place { title: string; permalink: string; type: string; updated: Time }

export type Meta = string | number | boolean | null | Meta[] | { [key: string]: Meta };

export interface Fact {
  id: string;
  category?: string | null;
  text: string;
  tags: string[];
  context?: string | null;
  line: number;
  version: number;
  time?: Time | null;
  confidence?: number | null;
  importance?: number | null;
  struck: boolean;
  superseded_by?: string | null;
  supersedes?: string | null;
}

export interface LinkTarget { name: string; heading?: string | null; project?: string | null; path?: string | null; exists: boolean }

export type Inline =
  | { kind: 'text'; text: string }
  | { kind: 'emphasis' | 'strong' | 'strike'; inlines: Inline[] }
  | { kind: 'code'; text: string }
  | { kind: 'break'; hard: boolean }
  | { kind: 'link'; href: string; host: string; inlines: Inline[] }
  | { kind: 'wikilink'; target: LinkTarget; label: string }
  | { kind: 'image'; href?: string | null; host?: string | null; alt: string; remote: boolean }
  | { kind: 'tag'; text: string }
  | { kind: 'html'; text: string }
  | { kind: 'secret'; text: string; line: number }
  | { kind: 'invisible'; code: string }
  | { kind: 'footnote'; label: string };

interface Lines { line: number; end_line: number }
export type Block = Lines &
  (
    | { kind: 'heading'; level: number; inlines: Inline[] }
    | { kind: 'paragraph'; inlines: Inline[] }
    | { kind: 'list'; ordered: boolean; start?: number | null; items: (Lines & { blocks: Block[] })[] }
    | { kind: 'quote'; callout?: string | null; blocks: Block[] }
    | { kind: 'code'; language: string; text: string }
    | { kind: 'table'; align: string[]; head: Inline[][]; rows: Inline[][][] }
    | { kind: 'rule' }
    | { kind: 'html'; text: string }
    | { kind: 'fact'; fact: Fact; inlines: Inline[] }
    | { kind: 'relation'; relation_type: string; target: LinkTarget; context?: string | null }
    | { kind: 'task'; done: boolean; mark: string; inlines: Inline[]; blocks: Block[] }
  );

export interface Note extends Place {
  title: string;
  permalink: string;
  type: string;
  kind: 'markdown' | 'text' | 'binary';
  hash: string;
  text?: string | null;
  size: number;
  created?: Time | null;
  updated?: Time | null;
  last_read?: Time | null;
  at?: { commit?: string | null; time: Time } | null;
  exists: boolean;
  properties: { key: string; value: Meta }[];
  tags: string[];
  tree: Block[];
  facts: Fact[];
  problems: { line: number; text: string }[];
  read_only: boolean;
  secrets: { line: number; kind: string }[];
}
export interface Around {
  out: { relation_type: string; target: LinkTarget; line: number; context?: string | null; sentence: Segment[] }[];
  in: (Place & { title: string; relation_type: string; line: number; sentence: Segment[]; agent?: Agent | null })[];
  mentions: (Place & { title: string; line: number; sentence: Segment[] })[];
  graph: {
    nodes: (Place & { id: number; title: string; depth: number })[];
    edges: { from: number; to: number; relation_type: string }[];
    centre: number;
    truncated: boolean;
  };
}
export interface Version {
  commit: string;
  time: Time;
  agent: Agent;
  client: string;
  tool: string;
  channel: string;
  kind: string;
  action: string;
  hash?: string | null;
  message?: string | null;
  added: number;
  removed: number;
}
export interface BlameRun {
  commit: string;
  time: Time;
  agent: Agent;
  client: string;
  tool: string;
  channel: string;
  first: number;
  count: number;
}
export interface Blame { hash: string; authors: { agent: Agent; lines: number }[]; runs: BlameRun[] }

export interface MergeRegion {
  kind: 'same' | 'yours' | 'theirs' | 'both' | 'conflict';
  text?: string | null;
  base?: string | null;
  yours?: string | null;
  theirs?: string | null;
}
export interface ConflictProblem {
  base?: string | null;
  yours: string;
  theirs?: string | null;
  theirs_hash?: string | null;
  theirs_entry?: Entry | null;
  merged?: string | null;
  clean: boolean;
  regions: MergeRegion[];
}

export interface UndoPreview {
  commits: Entry[];
  files: FileDiff[];
  file_count?: number;
  changed_since: Place[];
  skipped: { commit: string; why: string }[];
  can_undo: boolean;
  why_not?: string | null;
}

export interface MapAnswer {
  version: string;
  count: number;
  projects: { name: string; x: number; y: number; r: number; count: number }[];
  agents: Agent[];
  columns: {
    id: number[];
    x: number[];
    y: number[];
    project: number[];
    agent: number[];
    created: number[];
    updated: number[];
    read: number[];
    degree: number[];
  };
}

export interface FactRow extends Place {
  title: string;
  line: number;
  fact: Fact;
  versions: { text: string; time?: Time | null; version: number; struck: boolean; agent?: Agent | null; commit?: string | null }[];
}
export interface FactsAnswer { items: FactRow[]; total?: number | null; at?: Time | null; next?: string | null }
export interface OpposedStatement extends Place {
  title: string;
  line?: number | null;
  category?: string | null;
  text: string;
  time?: Time | null;
  agent?: Agent | null;
}
export interface Contradiction { id: string; newer: OpposedStatement; older: OpposedStatement; why: string }
export interface RuleScope {
  scope: string;
  title: string;
  rules: (Place & { text: string; updated: Time; paths: string[]; tags: string[] })[];
}
export interface RuleFile { target: string; path: string; text: string; block: boolean }

export interface AgentsAnswer {
  agents: {
    agent: Agent;
    clients: string[];
    last: Time;
    writes: number;
    total: number;
    reads?: number | null;
    tools_used: { tool: string; count: number }[];
    installed?: boolean | null;
    configured?: boolean | null;
  }[];
  toolsets: { name: string; tools: { name: string; title: string; tokens: number; read_only: boolean }[]; tokens: number }[];
  offered: { tools: number; tokens: number };
  instructions: { text: string; tokens: number };
}
export interface BriefAnswer {
  client: string;
  folder?: string | null;
  text: string;
  tokens: number;
  repository?: string | null;
  lines: { text: string; source?: Place | null; reason: string; tokens: number; section: string; is_heading: boolean }[];
}
export type ClientAction = 'connect' | 'connect_with_hooks' | 'disconnect';
export interface Client {
  name: string;
  title: string;
  found: boolean;
  connected: boolean;
  hooks?: boolean | null;
  problem?: string | null;
  after: string;
  changes: { action: ClientAction; digest: string; files: { path: string; action: string; hunks: DiffHunk[] }[] }[];
}
export interface ImportReport {
  source: string;
  from?: string | null;
  reads: string;
  becomes: string;
  dry_run: boolean;
  whole?: boolean;
  created: number;
  updated: number;
  unchanged: number;
  edited: number;
  deleted: number;
  taken: number;
  failed: number;
  skipped: { reason: string; count: number }[];
  problems: { at: string; message: string }[];
  secrets: Place[];
  commits: string[];
  note_count: number;
  notes: (Place & { id: string; outcome: string })[];
}
export interface VacuumPlan { before: Time; versions: boolean; contents: number; bytes: number; note_count: number; notes: Place[]; still_on: string[] }
export interface CareAnswer {
  checks: { name: string; ok: boolean; level: 'ok' | 'warning' | 'error'; detail: string; hint?: string | null }[];
  checked: Time;
  took_ms: number;
  lists: { name: string; count: number | null }[];
}
export interface CareRow extends Place {
  title: string;
  line?: number | null;
  detail: string;
  updated?: Time | null;
  last_read?: Time | null;
  other?: Place | null;
}
export interface Setting { key: string; value: unknown; default: unknown; source: string; help: string; in_file?: boolean; fixed?: boolean }
