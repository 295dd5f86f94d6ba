/** A policy to begin with; {name} is the connector's. */
export const FAKE_STARTER = `version: 1
default: deny
rules:
  - id: pretended-reads
    match:
      tools:
        - {name}.read
    decision: allow
  - id: pretended-changes
    match:
      tools:
        - {name}.*
    decision: require_approval
    approval:
      approvers:
        - role:admin
      expires_in: 1h
`;
