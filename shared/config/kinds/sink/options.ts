import type * as z from 'zod';
import type { DeadLetterPayload, JsonValue } from '../../resolved.ts';
import type { deliveryOptions, placeOptions } from '../../options/shared.ts';
import type { destinationOptions, sourceOptions } from '../../options/sink.ts';

type Output<Shape extends z.ZodRawShape> = z.output<z.ZodObject<Shape>>;

/** Options that every sink has, once they are read. */
export type SinkOptions = Output<typeof sourceOptions> &
  Output<typeof placeOptions> &
  Output<typeof destinationOptions> &
  Output<typeof deliveryOptions> & {
    readonly serializer?: string | WrittenModule | undefined;
    readonly mapping?: unknown;
    readonly failurePolicy: 'fail' | 'log-and-drop' | 'dead-letter';
    readonly deadLetter?: WrittenDeadLetter<DeadLetterPayload> | undefined;
  };

export interface WrittenModule {
  readonly module: string;
  readonly options?: JsonValue | undefined;
}

export interface WrittenDeadLetter<Payload extends DeadLetterPayload> {
  readonly topic: string;
  readonly payload: Payload;
  readonly maxOutstandingMessages: number;
  readonly flushTimeout: number;
  readonly shutdownTimeout: number;
}
