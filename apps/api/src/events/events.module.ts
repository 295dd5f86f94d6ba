import { Module, type OnModuleDestroy } from '@nestjs/common';
import { Bus, Clock, EventStore, Logger, Randomness } from '#libs/domain/kernel';
import { PublicEventReads } from '#libs/infra/read-models';
import { EventHydration, EventViewpoint } from './event-hydration.js';
import { EventReader } from './event-reader.js';
import { EventStreams } from './event-streams.js';
import { instanceName } from './instance-name.js';
import { OpenStreams } from './open-streams.js';
import { StreamEventsController } from './stream-events.controller.js';

/** What is told as it happens. */
@Module({
  controllers: [StreamEventsController],
  providers: [
    EventViewpoint,
    EventHydration,
    OpenStreams,
    {
      provide: EventReader,
      inject: [PublicEventReads, EventStore, Bus, Clock, Logger, EventHydration, Randomness],
      useFactory: (
        reads: PublicEventReads,
        store: EventStore,
        bus: Bus,
        clock: Clock,
        log: Logger,
        hydration: EventHydration,
        randomness: Randomness,
      ) => new EventReader({ reads, store, bus, clock, log }, hydration, instanceName(randomness)),
    },
    {
      provide: EventStreams,
      inject: [EventReader, Bus, Clock, OpenStreams],
      useFactory: (reader: EventReader, bus: Bus, clock: Clock, limits: OpenStreams) =>
        new EventStreams(reader, bus, clock, limits),
    },
  ],
  exports: [EventReader, OpenStreams],
})
export class EventsModule implements OnModuleDestroy {
  constructor(private readonly reader: EventReader) {}

  async onModuleDestroy(): Promise<void> {
    await this.reader.stop();
  }
}
