import { type DocumentSnapshot, Firestore } from '@google-cloud/firestore';

/** The totals of a run, by its document and by its last message. */
export type Totals = Readonly<Record<'rows' | 'cells' | 'messages' | 'skipped' | 'quarantined', number>>;

/** What a slot holds of a split: everything of it that is left, by its document. */
export interface HeldSplit {
  readonly split: string;
  /** Keys, in the characters that the table has; absent: no bound. */
  readonly start?: { readonly key: string; readonly isOpen: boolean };
  readonly end?: { readonly key: string; readonly isOpen: boolean };
  /** Rows that are committed. */
  readonly rows: number;
}

export interface SlotState {
  readonly owner: string;
  readonly epoch: number;
  readonly held: readonly HeldSplit[];
}

export interface RunState {
  readonly state: string;
  readonly splits: number;
  readonly totals?: Totals;
  readonly isTold: boolean;
  /** Why it failed. */
  readonly problem: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly endedAt?: number;
}

/** Reads what a scan has in Firestore, past the connector: with the official client, from the documents. */
export interface ScanState extends AsyncDisposable {
  /** Of a slot that nobody ever had: nobody's, with nothing. */
  slot(pipeline: string, slot: number): Promise<SlotState>;
  run(pipeline: string, run: string): Promise<RunState>;
}

export function openScanState(firestoreHost: string, projectId: string): ScanState {
  const firestore = new Firestore({ projectId, host: firestoreHost, ssl: false });
  const pipelineOf = (name: string) => firestore.collection('pipelines').doc(name);
  return {
    async slot(pipeline, slot) {
      return readSlot(await pipelineOf(pipeline).collection('slots').doc(String(slot)).get());
    },
    async run(pipeline, run) {
      return readRun(await pipelineOf(pipeline).collection('runs').doc(run).get());
    },
    [Symbol.asyncDispose]: () => firestore.terminate(),
  };
}

interface SlotFields {
  readonly owner: string;
  readonly epoch: number;
  readonly units: Readonly<Record<string, { readonly range: RangeFields; readonly counts: { readonly rows: number } }>>;
}

interface RangeFields {
  readonly start: BoundFields;
  readonly end: BoundFields;
}

/** Its key under its kind; neither: no bound. */
interface BoundFields {
  readonly closed?: Uint8Array;
  readonly open?: Uint8Array;
}

function readSlot(document: DocumentSnapshot): SlotState {
  const state = document.get('state') as SlotFields | undefined;
  if (!state) return { owner: '', epoch: 0, held: [] };
  const { owner, epoch, units } = state;
  const held = Object.entries(units).map(([split, { range, counts }]): HeldSplit => ({
    ...{ split, rows: counts.rows },
    ...boundOf('start', range.start),
    ...boundOf('end', range.end),
  }));
  return { owner, epoch, held };
}

function boundOf(name: 'start' | 'end', { closed, open }: BoundFields): Pick<HeldSplit, 'start' | 'end'> {
  const bytes = closed ?? open;
  return bytes ? { [name]: { key: Buffer.from(bytes).toString(), isOpen: open !== undefined } } : {};
}

function readRun(document: DocumentSnapshot): RunState {
  const head = document.get('head') as
    | {
        readonly state: string;
        readonly plan?: { readonly splits: number };
        readonly totals?: Totals;
        readonly isTold: boolean;
        readonly problem?: string;
        readonly endedAt?: number;
      }
    | undefined;
  if (!head) throw new TypeError(`${document.ref.path}: there must be a run`);
  const { state, plan, totals, isTold, endedAt, problem = '' } = head;
  return {
    ...{ state, isTold, problem, splits: plan?.splits ?? 0, startedAt: document.get('startedAt') as number },
    ...(totals && { totals }),
    ...(endedAt !== undefined && { endedAt }),
  };
}
