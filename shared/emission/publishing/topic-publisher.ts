import { Queue } from '../../base/queue.ts';
import { type Course, deliver, type Place } from './deliver.ts';
import type { OutgoingMessage } from '../../model/publishing.ts';
import { isHeldBack, type Outbound } from '../outbound.ts';
import { Lane } from './lane.ts';
import { SlabPool } from './slab.ts';
import { shareOf } from './pace.ts';
import { requestFill } from './request-fill.ts';

/** Requests that are out at once, by any key; those that pause before another attempt count as deliveries. */
const MAX_REQUESTS = 64;

/** New requests wait while so much is out: what they hold is in memory a second and a third time. */
const MAX_REQUEST_BYTES = 8 * 1024 * 1024;

/** A request of so much costs hardly more for each message than a larger one. */
const LARGE_BYTES = 64 * 1024;

/** Requests with little in them, that are out at once: each costs as much as a hundred messages. */
const MIN_SMALL_REQUESTS = 4;
/** More of them when many keys wait: one in so many may leave. */
const KEYS_PER_SMALL_REQUEST = 8;

/**
 * Group commit for one topic: of each ordering key one request is outstanding, and what arrives meanwhile leaves together;
 * without a key a few requests at a time. So a lone message leaves at once, and a busy topic fills its requests without a
 * timer between the two.
 *
 * Many keys must not become many small requests: only a few requests with little in them are out at once, longest
 * waiting first, while those of keys that have gathered much pass beside them.
 *
 * What must stay true: every message that was added ends exactly once; nothing is thrown from a timer.
 */
export class TopicPublisher {
  readonly #course: Course;
  readonly #lanes = new Map<string, Lane>();
  readonly #slabs = new SlabPool();
  readonly #line = new Queue<Lane>();
  readonly #largeLine = new Queue<Lane>();
  /** Deliveries under way, those that pause among them. */
  #deliveries = 0;
  /** Requests that are out, those of them with little in them, and what all of them hold. */
  #requests = 0;
  #smallRequests = 0;
  #requestBytes = 0;
  /** Deliveries that paused and wait for their place, longest first. */
  readonly #returning = new Queue<() => void>();
  #isPumpDue = false;
  #isThrottled = false;

  constructor(course: Course) {
    this.#course = course;
  }

  /**
   * Takes a message that leaves in its turn. Its owner is told how it ended.
   *
   * @param message what it is made of, of which nothing but large data is kept.
   * @param common encoded attributes that it has besides its own.
   */
  add(outbound: Outbound, message: OutgoingMessage, common: Buffer): void {
    const lane = this.#laneOf(message.orderingKey ?? '');
    lane.add(outbound, message, common);
    this.#queue(lane);
    this.#pumpSoon();
  }

  /** Ends what waits and may not leave any more, because an earlier message of its owner failed. */
  dropHeldBack(): void {
    this.#course.state.drops += 1;
    const dropped: Outbound[] = [];
    for (const lane of this.#lanes.values()) {
      lane.queue.keep((message) => {
        if (!isHeldBack(message)) return true;
        lane.bytes -= message.bytes;
        dropped.push(message);
        return false;
      });
      this.#forgetIdle(lane);
    }
    for (const message of dropped) message.fail(undefined);
  }

  #laneOf(key: string): Lane {
    let lane = this.#lanes.get(key);
    if (!lane) this.#lanes.set(key, (lane = new Lane(key, this.#slabs)));
    return lane;
  }

  #forgetIdle(lane: Lane): void {
    if (!lane.isIdle) return;
    lane.close();
    this.#lanes.delete(lane.key);
  }

  /** Puts the lane where it is looked for, if something of it may leave. */
  #queue(lane: Lane): void {
    if (!lane.mayLeave) return;
    if (!lane.isInLine) {
      lane.isInLine = true;
      this.#line.push(lane);
    }
    if (lane.bytes >= LARGE_BYTES && !lane.isInLargeLine) {
      lane.isInLargeLine = true;
      this.#largeLine.push(lane);
    }
  }

  /** What arrives in one turn leaves in one request. */
  #pumpSoon(): void {
    if (this.#isPumpDue) return;
    this.#isPumpDue = true;
    this.#course.runtime.clock.soon(() => {
      this.#isPumpDue = false;
      this.#pump();
    });
  }

  #pump(): void {
    while (this.#returning.length > 0 && this.#requests < this.#share(MAX_REQUESTS)) this.#returning.take()?.();
    for (let lane = this.#next(); lane; lane = this.#next()) {
      this.#start(lane, this.#take(lane));
    }
    this.#noteThrottling();
  }

  /** The lane whose turn it is; undefined when none may leave. */
  #next(): Lane | undefined {
    if (this.#deliveries >= MAX_REQUESTS || this.#requests >= this.#share(MAX_REQUESTS)) return undefined;
    if (this.#requestBytes >= this.#share(MAX_REQUEST_BYTES)) return undefined;
    const smallRequests = Math.max(MIN_SMALL_REQUESTS, Math.floor(this.#line.length / KEYS_PER_SMALL_REQUEST));
    if (this.#smallRequests < this.#share(smallRequests)) {
      for (let lane = this.#line.take(); lane; lane = this.#line.take()) {
        lane.isInLine = false;
        if (lane.mayLeave) return lane;
      }
    }
    for (let lane = this.#largeLine.take(); lane; lane = this.#largeLine.take()) {
      lane.isInLargeLine = false;
      if (lane.mayLeave && lane.bytes >= LARGE_BYTES) return lane;
    }
    return undefined;
  }

  /** Takes what leaves in one request. */
  #take(lane: Lane): Outbound[] {
    const { queue } = lane;
    const belongs = requestFill(this.#course.state.pace);
    const taken: Outbound[] = [];
    for (let head = queue.head; head && belongs(head); head = queue.head) {
      queue.take();
      lane.bytes -= head.bytes;
      taken.push(head);
    }
    return taken;
  }

  #start(lane: Lane, messages: readonly Outbound[]): void {
    const bytes = messages.reduce((sum, message) => sum + message.bytes, 0);
    const small = bytes < LARGE_BYTES ? 1 : 0;
    const count = (by: 1 | -1): void => {
      this.#requests += by;
      this.#smallRequests += by * small;
      this.#requestBytes += by * bytes;
    };
    const place: Place = {
      leave: () => {
        count(-1);
        this.#pumpSoon();
      },
      retake: () =>
        new Promise((resolve) => {
          this.#returning.push(() => {
            count(1);
            resolve();
          });
          this.#pumpSoon();
        }),
    };
    const end = (): void => {
      this.#deliveries -= 1;
      lane.deliveries -= 1;
      count(-1);
      this.#queue(lane);
      this.#forgetIdle(lane);
      this.#pumpSoon();
    };
    this.#deliveries += 1;
    lane.deliveries += 1;
    this.#queue(lane);
    count(1);
    deliver(messages, this.#course, place).then(end, end);
  }

  #share(full: number): number {
    return shareOf(this.#course.state.pace, full);
  }

  #noteThrottling(): void {
    const { pace, throttle } = this.#course.state;
    const isThrottled = pace.share < 1 && this.#line.length + this.#returning.length > 0;
    if (isThrottled === this.#isThrottled) return;
    this.#isThrottled = isThrottled;
    if (isThrottled) throttle.begin();
    else throttle.end();
  }
}
