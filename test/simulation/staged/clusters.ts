import type { ReadMarkers } from '../../../shared/markers/ports.ts';
import type { SendRowCall } from '../../../shared/model/row-call.ts';
import type { ProfileReading } from '../../../shared/markers/target.ts';
import { FakeMarkedTable, type FakeTableOptions } from '../../support/fake-marked-table.ts';

/** Longer than committers are away at a failover: without a look at the cluster an effect would be applied in both. */
const REPLICATION_MILLIS = 12_000;

/** One table in two clusters, behind a profile that routes to one of them. What one applies, the other has later. */
export class Clusters {
  /** Where the profile routes. */
  current: 'c1' | 'c2' = 'c1';
  readonly c1: FakeMarkedTable;
  readonly c2: FakeMarkedTable;
  readonly #clock: FakeTableOptions['clock'];

  constructor(options: Omit<FakeTableOptions, 'onApplied'>) {
    this.#clock = options.clock;
    this.c1 = new FakeMarkedTable({ ...options, onApplied: this.#replicatedTo(() => this.c2) });
    this.c2 = new FakeMarkedTable({ ...options, onApplied: this.#replicatedTo(() => this.c1) });
  }

  readonly send: SendRowCall = (call) => this[this.current].send(call);

  readonly readMarkers: ReadMarkers = (question) => this[this.current].readMarkers(question);

  readonly profile = (): ProfileReading => ({
    kind: 'found',
    isSingleCluster: true,
    isTransactional: true,
    cluster: this.current,
  });

  /** Whether an effect is in its row, in one of them. */
  isMarked(identity: string): boolean {
    const rows = [...this.c1.rows.values(), ...this.c2.rows.values()];
    return rows.some(({ markers }) => markers.has(identity));
  }

  #replicatedTo(other: () => FakeMarkedTable): NonNullable<FakeTableOptions['onApplied']> {
    return (request) => {
      this.#clock.after(REPLICATION_MILLIS, () => {
        other().receive(request);
      });
    };
  }
}
