import type { handleBidiStreamingCall, ServerDuplexStream } from '@grpc/grpc-js';
import type {
  StreamingPullRequest,
  StreamingPullResponse,
} from '../../../../../shared/proto/google/pubsub/v1/pubsub.ts';
import { endOf } from '../../rpc/call-end.ts';
import { asRefusal, enterCall, type CallContext } from '../../rpc/calls.ts';
import type { Holder } from '../delivery/entry.ts';
import type { PubSubCalls } from '../faults.ts';
import type { Consumer, LiveSubscription } from '../resources/live-subscription.ts';
import type { Subscriptions } from '../resources/subscriptions.ts';
import type { Timing } from '../timing.ts';
import { leaseMillis, received } from './leases.ts';
import { refusePushOnly } from './pull.ts';

type Call = ServerDuplexStream<StreamingPullRequest, StreamingPullResponse>;

/** One response carries at most this much, so that several streams of a subscription take turns. */
const RESPONSE = { messages: 100, bytes: 4_000_000 } as const;

/**
 * StreamingPull: the first request opens the stream, later ones acknowledge, move deadlines or are keep-alives, which
 * are answered with an empty response. Leases outlive the stream: what it left unacknowledged comes back when they end.
 */
export function streamingPull(
  subscriptions: Subscriptions,
  timing: Timing,
  context: CallContext<PubSubCalls>,
): handleBidiStreamingCall<StreamingPullRequest, StreamingPullResponse> {
  return (call) => {
    const { signal, release } = endOf(call, context.closing);
    let stream: PullStream | undefined;
    let isOver = false;
    const end = (thrown?: unknown): void => {
      if (isOver) return;
      isOver = true;
      release();
      stream?.detach();
      if (thrown === undefined) call.end();
      else call.emit('error', asRefusal(context, 'StreamingPull', thrown));
    };
    const open = async (request: StreamingPullRequest): Promise<void> => {
      await enterCall(context, 'StreamingPull', request, signal);
      const subscription = subscriptions.find(request.subscription);
      refusePushOnly(subscription);
      if (!isOver) stream = new PullStream(call, subscription, request, timing, end);
    };
    let opening: Promise<void> | undefined;
    call.on('data', (request: StreamingPullRequest) => {
      const turn = opening ? opening.then(() => stream?.accept(request)) : (opening = open(request));
      turn.catch(end);
    });
    call.on('end', () => {
      end();
    });
    call.on('cancelled', () => {
      isOver = true;
      release();
      stream?.detach();
    });
  };
}

/** One open stream: takes deliveries while its flow control and the connection's allow. */
class PullStream implements Consumer {
  readonly #call: Call;
  readonly #subscription: LiveSubscription;
  readonly #timing: Timing;
  readonly #end: (thrown?: unknown) => void;
  readonly #outstanding: Holder = { messages: 0, bytes: 0 };
  readonly #maxOutstanding: Holder;
  #leaseMillis: number;
  #isBlocked = false;
  readonly #detach: () => void;

  constructor(
    call: Call,
    subscription: LiveSubscription,
    first: StreamingPullRequest,
    timing: Timing,
    end: (thrown?: unknown) => void,
  ) {
    this.#call = call;
    this.#subscription = subscription;
    this.#timing = timing;
    this.#end = end;
    this.#leaseMillis = subscription.settings.ackDeadlineMillis;
    this.#maxOutstanding = {
      messages: limitOf(first.maxOutstandingMessages),
      bytes: limitOf(first.maxOutstandingBytes),
    };
    call.on('drain', () => {
      this.#isBlocked = false;
      subscription.wake();
    });
    this.#write({});
    this.#apply(first);
    this.#detach = subscription.attach(this);
  }

  /** Takes in a later request. */
  accept(request: StreamingPullRequest): void {
    const isKeepAlive = request.ackIds.length === 0 && request.modifyDeadlineAckIds.length === 0;
    this.#apply(request);
    if (isKeepAlive) this.#write({});
  }

  detach(): void {
    this.#detach();
  }

  pump(): boolean {
    if (this.#subscription.closedBy) {
      this.#end(this.#subscription.closedBy);
      return false;
    }
    const messages = Math.min(this.#maxOutstanding.messages - this.#outstanding.messages, RESPONSE.messages);
    const bytes = Math.min(this.#maxOutstanding.bytes - this.#outstanding.bytes, RESPONSE.bytes);
    if (this.#isBlocked || messages <= 0 || bytes <= 0) return false;
    const deliveries = this.#subscription.take({ messages, bytes }, this.#leaseMillis, this.#outstanding);
    if (deliveries.length === 0) return false;
    const { settings } = this.#subscription;
    this.#write({ receivedMessages: deliveries.map((delivery) => received(delivery, settings)) });
    return true;
  }

  #apply(request: StreamingPullRequest): void {
    const { ackIds, modifyDeadlineAckIds, modifyDeadlineSeconds, streamAckDeadlineSeconds } = request;
    if (streamAckDeadlineSeconds > 0) this.#leaseMillis = leaseMillis(streamAckDeadlineSeconds, this.#timing);
    if (ackIds.length > 0) this.#acknowledge(ackIds);
    modifyDeadlineAckIds.forEach((ackId, index) => {
      this.#subscription.modifyDeadline([ackId], leaseMillis(modifyDeadlineSeconds[index] ?? 0, this.#timing));
    });
  }

  #acknowledge(ackIds: string[]): void {
    const invalidAckIds = this.#subscription.acknowledge(ackIds);
    if (!this.#subscription.settings.isExactlyOnce) return;
    const confirmed = ackIds.filter((ackId) => !invalidAckIds.includes(ackId));
    this.#write({
      acknowledgeConfirmation: { ackIds: confirmed, invalidAckIds, unorderedAckIds: [], temporaryFailedAckIds: [] },
    });
  }

  /** Every response says what kind of subscription it is, as the clients decide by it how to acknowledge. */
  #write(part: Partial<StreamingPullResponse>): void {
    const { isExactlyOnce, isOrdered } = this.#subscription.settings;
    const hasRoom = this.#call.write({
      receivedMessages: [],
      acknowledgeConfirmation: undefined,
      modifyAckDeadlineConfirmation: undefined,
      subscriptionProperties: { exactlyOnceDeliveryEnabled: isExactlyOnce, messageOrderingEnabled: isOrdered },
      ...part,
    });
    if (!hasRoom) this.#isBlocked = true;
  }
}

/** 0 and below mean no limit. */
const limitOf = (asked: bigint): number => (asked > 0n ? Number(asked) : Infinity);
