import { IsIn, IsObject, IsString, Matches, ValidateIf } from 'class-validator';
import { DIGEST_PATTERN, type JsonObject } from '#libs/crypto';
import { CONNECTOR_STATUSES, type ConnectorStatus, CREDENTIAL_KINDS } from '#libs/domain/connectors';
import { IfPresent } from '../http/shape.js';

/** POST /v1/connectors. What the members may hold is the domain's to judge: it names the field of a config at fault. */
export class CreateConnectorBody {
  @IsString({ message: 'must be a connector type such as rest' })
  type!: string;

  @IsString({ message: 'must be a string' })
  name!: string;

  @IfPresent()
  @IsString({ message: 'must be a string' })
  description?: string;

  @IsObject({ message: 'must be an object' })
  config!: JsonObject;
}

/** PATCH /v1/connectors/{id}: what is left out stays; null takes the description away. */
export class UpdateConnectorBody {
  @ValidateIf((_, value) => value !== undefined && value !== null)
  @IsString({ message: 'must be a string or null' })
  description?: string | null;

  @IfPresent()
  @IsIn(CONNECTOR_STATUSES, { message: `must be ${CONNECTOR_STATUSES.join(' or ')}` })
  status?: ConnectorStatus;

  @IfPresent()
  @IsObject({ message: 'must be an object' })
  config?: JsonObject;

  @IfPresent()
  @Matches(DIGEST_PATTERN, { message: 'must be the config_hash of the connector as it was read' })
  expected_config_hash?: string;
}

/** The body of PUT /v1/connectors/{id}/credentials (rule CON-3). */
export class PutCredentialsBody {
  @IsString({ message: `must be one of ${CREDENTIAL_KINDS.join(', ')}` })
  kind!: string;

  @IfPresent()
  @IsObject({ message: 'must be an object' })
  secret?: JsonObject;
}
