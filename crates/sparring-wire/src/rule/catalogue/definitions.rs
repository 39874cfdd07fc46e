//! Definitions, their cost and safety, arguments, and the rules of suites.

macro_rules! definition_rules {
    ($next:ident, $($rest:tt)*) => {
        $next! {
            $($rest)*

            // Definitions, as hosts, models and users read them.
            InvalidSchema = "definitions/invalid-schema", Check, Lint, UNTIL_2025_06_18, NONE,
                "The schemas of a tool should be valid JSON Schemas of their draft.",
                "Correct the schema; JSON Schema has the types array, boolean, integer, null, number, object and string.";
            InvalidPattern = "definitions/pattern", Check, Lint, ALL, NONE,
                "The patterns of a schema should be regular expressions.",
                "Correct the regular expression, and escape its backslashes in JSON.";
            UnresolvedReference = "definitions/unresolved-reference", Check, Lint, ALL, NONE,
                "A `$ref` of a schema should name a part of the same schema.",
                "Add the missing definition below `$defs`, or write the schema in the place of the `$ref`.";
            ExternalReference = "definitions/external-reference", Check, Lint, ALL, NONE,
                "A `$ref` of a schema should not name another document.",
                "Copy the definition below `$defs`: clients do not fetch other documents.";
            UndeclaredRequired = "definitions/required", Check, Lint, ALL, NONE,
                "A required property should be one of the properties of its schema.",
                "Declare the property below `properties`, or remove it from `required`.";
            WrongEnum = "definitions/enum", Check, Lint, ALL, NONE,
                "The values of an `enum` should be different, and at least one.",
                "List each allowed value once.";
            ImpossibleSchema = "definitions/impossible", Check, Lint, ALL, NONE,
                "A schema should allow at least one value.",
                "Correct the limits: the smallest must not be above the largest.";
            WrongDefault = "definitions/default", Check, Lint, ALL, NONE,
                "The `default` of a schema should conform to this schema.",
                "Correct the default, or allow its type in the schema.";
            WrongExample = "definitions/example", Check, Lint, ALL, NONE,
                "The `examples` of a schema should conform to this schema.",
                "Correct the example, or the schema.";
            ToolNameCharacters = "definitions/tool-name", Check, Lint, UNTIL_2025_06_18, NONE,
                "The name of a tool should only have ASCII letters, digits and `_-.`.",
                "Rename the tool with ASCII letters, digits and `_-.`: many models accept no others.";
            LongToolName = "definitions/tool-name-length", Check, Lint, ALL, NONE,
                "The name of a tool should have at most 64 characters with the prefix that hosts add.",
                "Shorten the name of the tool: many models accept at most 64 characters.";
            CollidingToolNames = "definitions/tool-name-collision", Check, Lint, ALL, NONE,
                "The names of tools should differ in more than upper case and punctuation.",
                "Rename one of the tools: hosts replace characters that models do not accept.";
            MissingToolDescription = "definitions/tool-description", Check, Lint, ALL, NONE,
                "A tool should have a description.",
                "Describe what the tool does and when to use it.";
            MissingParameterDescription = "definitions/parameter-description", Check, Lint, ALL, NONE,
                "A parameter of a tool should have a description.",
                "Describe the parameter in its schema.";
            MissingPromptDescription = "definitions/prompt-description", Check, Lint, ALL, NONE,
                "A prompt should have a description.",
                "Describe the purpose of the prompt.";
            MissingArgumentDescription = "definitions/prompt-argument-description", Check, Lint, ALL, NONE,
                "An argument of a prompt should have a description.",
                "Describe the argument of the prompt.";
            MissingResourceDescription = "definitions/resource-description", Check, Lint, ALL, NONE,
                "A resource should have a description if most resources of the server have one.",
                "Describe the contents of the resource.";
            ContradictingAnnotations = "definitions/annotations", Check, Lint, SINCE_2025_03_26, NONE,
                "The annotations of a tool should not contradict each other or its name.",
                "Set `destructiveHint` only on tools that change something, and `readOnlyHint` only on tools that do not.";
            DuplicateDefinition = "definitions/duplicate", Check, Lint, ALL, NONE,
                "A list should have each prompt, argument of a prompt, resource and template once.",
                "List each item once, with its own name or URI.";

            // The cost of definitions.
            TooManyTokens = "cost/tokens", Check, Must, ALL, NONE,
                "The definitions of all tools together must not have more tokens than the given limit.",
                "Shorten the largest descriptions and schemas, or offer fewer tools.";
            LargeDefinition = "cost/large-definition", Check, Lint, ALL, NONE,
                "The definition of one tool should not have more than 8000 tokens.",
                "Shorten the description and the schema of the tool, or split the tool.";

            // The safety of definitions.
            HiddenCharacters = "safety/hidden-characters", Check, Lint, ALL, NONE,
                "The texts of definitions should not have characters that a user cannot see.",
                "Remove the invisible characters.";
            DirectionCharacters = "safety/direction-characters", Check, Lint, ALL, NONE,
                "The texts of definitions should not have characters that change the direction of text.",
                "Remove the characters that change the direction.";
            ControlCharacters = "safety/control-characters", Check, Lint, ALL, NONE,
                "The texts of definitions should not have control characters besides tabs and line breaks.",
                "Remove the control characters.";
            SuspiciousInstruction = "safety/instruction", Check, Lint, ALL, NONE,
                "The texts of definitions should not instruct the model to hide, read or send things.",
                "Describe the tool, and leave the model's other actions to the user.";
            LookalikeName = "safety/lookalike-name", Check, Lint, ALL, NONE,
                "A name should not mix alphabets, and should not look like another name.",
                "Write names in one alphabet, best in ASCII.";
            DataLink = "safety/data-link", Check, Lint, ALL, NONE,
                "The texts of definitions should not have links or images that carry data out.",
                "Remove the link, or its placeholders.";
            SecretInDefinition = "safety/secret", Check, Lint, ALL, NONE,
                "The texts of definitions should not have secrets.",
                "Remove the secret, and revoke it.";
            ChangedDefinition = "safety/changed-definition", Check, Lint, ALL, NONE,
                "The definitions of a server should not change without a notification.",
                "Keep the definitions, or send `notifications/tools/list_changed` or `notifications/prompts/list_changed`.";

            // Generated arguments.
            ArgumentsCrash = "arguments/crash", Check, Must, ALL, NONE,
                "A server must not end because of the arguments of a call.",
                "Catch errors in the tool, and return them as a result with `isError`.";
            ArgumentsHang = "arguments/hang", Check, Must, ALL, NONE,
                "A server must answer calls with valid arguments in time, also with unusual ones.",
                "Limit the work of the tool, and return a result with `isError` if it takes too long.";
            ArgumentsInternalError = "arguments/internal-error", Check, Lint, ALL, NONE,
                "A call with valid arguments should not get the error -32603, if other calls of the tool succeed.",
                "Catch errors in the tool, and return them as a result with `isError`.";
            InvalidArgumentsAccepted = "arguments/invalid-accepted", Check, Must, ALL, "server/tools#security-considerations",
                "A server must validate the arguments of a call against the input schema.",
                "Validate the arguments before the tool uses them, and answer with the error -32602 or a result with `isError`.";
            ArgumentLimitIgnored = "arguments/limit-ignored", Check, Should, ALL, "server/tools#security-considerations",
                "A server should validate the lengths, ranges and patterns of arguments that the input schema declares.",
                "Validate the limits too, or remove from the input schema what the tool does not need.";
            ExtraArgumentAccepted = "arguments/extra-accepted", Check, Lint, ALL, NONE,
                "A call with an argument that the input schema forbids should fail.",
                "Reject unknown arguments, or allow them with `additionalProperties: true`.";

            // Expectations of a suite and of a scripted LLM.
            Unanswered = "suite/unanswered", Traffic, Must, ALL, NONE,
                "An `answer` of the step must cover every request of the server.",
                "Add an `answer` to the step.";
            UnexpectedTurn = "llm/unexpected-turn", Traffic, Must, ALL, NONE,
                "A request to a scripted LLM must be the next turn of its script.",
                "Correct the script, or the request of the agent.";
            InvalidLlmRequest = "llm/invalid-request", Traffic, Must, ALL, NONE,
                "A request to a scripted LLM must be valid for its API.",
                "Correct the request of the agent.";
        }
    };
}
