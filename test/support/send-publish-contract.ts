import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PublishReply, SendPublish, WireMessage } from '../../shared/emission/ports.ts';
import { status, type TopicEffect } from './fake-topic.ts';
import { wireMessage } from './wire-message.ts';

/** An implementation of the port before the topic `projects/p/topics/out`, and what can be done to it. */
export interface SendPublishSubject {
  readonly send: SendPublish;
  /** What goes wrong with the next attempt. */
  next(effect: Extract<TopicEffect, { readonly kind: 'refuse' | 'lose-answer' | 'silence' }>): void;
  /** Texts of the messages that were published since the last call, in order. */
  published(): Promise<string[]>;
  close(): Promise<void>;
}

const TOPIC = 'projects/p/topics/out';

const wire = (text: string, orderingKey?: string): WireMessage => {
  const message = { data: Buffer.from(text), attributes: { a: '1' } };
  return wireMessage(orderingKey === undefined ? message : { ...message, orderingKey });
};

/** What every implementation of the port promises: one attempt, all of its messages or none, and always an ending. */
export function sendPublishContract(name: string, start: () => Promise<SendPublishSubject>): void {
  describe(`the contract of SendPublish: ${name}`, () => {
    let subject: SendPublishSubject;
    beforeAll(async () => {
      subject = await start();
    });
    afterAll(() => subject.close());

    const send = (
      messages: readonly WireMessage[],
      { timeoutMillis = 5_000, signals = [] }: { timeoutMillis?: number; signals?: readonly AbortSignal[] } = {},
    ): Promise<PublishReply> => subject.send({ topic: TOPIC, messages, timeoutMillis, signals });

    const codeOf = (reply: PublishReply): string => (reply.kind === 'failed' ? reply.status.code : reply.kind);

    test('messages that are confirmed are published, in their order', async () => {
      expect(await send(['a', 'b', 'c'].map((text) => wire(text, 'k')))).toEqual({ kind: 'confirmed' });
      expect(await subject.published()).toEqual(['a', 'b', 'c']);
    });

    test('messages without an ordering key are published', async () => {
      expect(await send([wire('a'), wire('b')])).toEqual({ kind: 'confirmed' });
      expect(await subject.published()).toEqual(['a', 'b']);
    });

    test('a request with two ordering keys is refused whole with INVALID_ARGUMENT', async () => {
      const reply = await send([wire('a', 'k'), wire('b', 'l')]);
      expect([codeOf(reply), await subject.published()]).toEqual(['INVALID_ARGUMENT', []]);
    });

    test.each(['UNAVAILABLE', 'RESOURCE_EXHAUSTED', 'NOT_FOUND', 'PERMISSION_DENIED', 'INTERNAL'] as const)(
      'a refusal with %s is told as it is, and nothing is published',
      async (code) => {
        subject.next({ kind: 'refuse', status: status(code, 'the words') });
        const reply = await send([wire('a')]);
        expect(reply).toEqual({ kind: 'failed', status: { code, message: 'the words' }, isUnsent: false });
        expect(await subject.published()).toEqual([]);
      },
    );

    test('a lost answer is a failure of which the effect is open, and the messages may be there', async () => {
      subject.next({ kind: 'lose-answer', status: status('UNAVAILABLE') });
      expect(await send([wire('a')])).toMatchObject({ kind: 'failed', isUnsent: false });
      expect(await subject.published()).toEqual(['a']);
    });

    test('an attempt without an answer ends at its deadline', async () => {
      subject.next({ kind: 'silence' });
      expect(codeOf(await send([wire('a')], { timeoutMillis: 100 }))).toBe('DEADLINE_EXCEEDED');
      expect(await subject.published()).toEqual([]);
    });

    test('an attempt whose signal aborts ends as CANCELLED', async () => {
      subject.next({ kind: 'silence' });
      const controller = new AbortController();
      const sent = send([wire('a')], { signals: [controller.signal] });
      setTimeout(() => {
        controller.abort(new Error('enough'));
      }, 50);
      expect(codeOf(await sent)).toBe('CANCELLED');
      expect(await subject.published()).toEqual([]);
    });

    test('an attempt whose signal aborted before is not sent, and says so', async () => {
      const reply = await send([wire('a')], { signals: [AbortSignal.abort(new Error('over'))] });
      expect([reply.kind === 'failed' && reply.isUnsent, await subject.published()]).toEqual([true, []]);
    });
  });
}
