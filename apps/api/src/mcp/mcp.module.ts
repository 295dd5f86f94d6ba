import { type DynamicModule, Module } from '@nestjs/common';
import { EventsModule } from '../events/events.module.js';
import { GateModule } from '../gate/gate.module.js';
import { PublishedDocs } from '../health/version.controller.js';
import { Site } from '../http/site.js';
import { ChangeStreams } from './change-streams.js';
import { DoorCalls } from './door-calls.js';
import { DoorParts } from './door-parts.js';
import { DoorTools } from './door-tools.js';
import { DoorWaits } from './door-waits.js';
import { McpOrigins } from './mcp-origins.js';
import { McpController } from './mcp.controller.js';
import { ResourceMetadataController } from './resource-metadata.controller.js';
import { ToolAnswers } from './tool-answer.js';

interface McpModuleOptions {
  readonly origins: readonly string[];
  readonly docsUrl: string | null;
}

/** The door for clients of the Model Context Protocol. */
@Module({})
export class McpModule {
  /**
   * @param origins beside the service's own whose pages may call it
   * @param docsUrl where the documentation is published, without a slash at its end; null where nobody has said
   */
  static forRoot({ origins, docsUrl }: McpModuleOptions): DynamicModule {
    return {
      module: McpModule,
      imports: [GateModule, EventsModule],
      controllers: [McpController, ResourceMetadataController],
      providers: [
        DoorTools,
        DoorCalls,
        DoorParts,
        DoorWaits,
        ToolAnswers,
        ChangeStreams,
        { provide: McpOrigins, inject: [Site], useFactory: (site: Site) => new McpOrigins(site, origins) },
        { provide: PublishedDocs, useValue: new PublishedDocs(docsUrl) },
      ],
    };
  }
}
