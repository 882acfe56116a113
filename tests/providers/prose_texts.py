"""Answers that aren't calls, though they have JSON, code or calls in them: prose, data, documentation.

The tools on offer are `get_weather`, `send_email` and `search`, and the answers speak of them, too.
"""

PROSE = [
    "The weather in Oslo is sunny.",
    "get_weather is a tool that returns the weather of a city.",
    "search is what I would use here.",
    "Search results: 1. Oslo, 2. Bergen",
    "[1] See the documentation of get_weather.",
    "[Oslo](https://example.com) is the capital of Norway.",
    "{city} stands for the name of a city.",
    "I can't send emails. Do you want me to draft one?",
    '`get_weather(city="Oslo")`',
    "to=Anna would be wrong: it has to be an address.",
    "analysis shows that the second query is slow.",
    "<b>Oslo</b> is cold today.",
    "<think>The user wants the weather.</think>It is sunny.",
    "[THINK]The user wants the weather.[/THINK]It is sunny.",
    "<|channel|>analysis<|message|>The user wants the weather.<|end|>It is sunny.",
    "search(query=load_query())",
    "search(query=load_query(path='a.txt'))",
    "search(query=Path())",
    "search(query=file.read(), most=3)",
    "get_weather(city=datetime.now(tz='UTC'))",
    "search(query=Path.home(user='x').Name(a=1))",
    "send_email(to=[find_address(name='Ann')])",
    "search\n\nThat is the word that I would look up.",
    "now: 12:00",
    "",
    "   \n",
]
EXAMPLES_IN_PROSE = [
    'To get the weather, call:\n\n```json\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n```',
    '```json\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n```\n\nThis calls `get_weather`.',
    '{"name": "get_weather", "arguments": {"city": "Oslo"}}\n\nThat is what a call looks like.',
    'Here is the call: {"name": "get_weather", "arguments": {"city": "Oslo"}}',
    'A call looks like this:\n\n<tool_call>\n{"name": "search", "arguments": {"query": "tea"}}\n</tool_call>',
    '<tool_call>\n{"name": "search", "arguments": {"query": "tea"}}\n</tool_call>\n\nDon\'t run it.',
    '1. `{"name": "search", "arguments": {"query": "a"}}`\n2. `{"name": "search", "arguments": {}}`',
    "First get_weather(city='Oslo'), then send_email(to='a@b.c', subject='Weather').",
    "get_weather(city='Oslo')  # asks for Oslo\nThe result is a text.",
    "You wrote [TOOL_CALLS], which Mistral uses before a call.",
    "# Tools\n\n- `get_weather(city)`: the weather\n- `search(query)`: a search",
    '{"name": "get_weather", "arguments": {"city": ...}}',
    '```json\n{"name": "get_weather", "arguments": {"city": string}}\n```',
    'get_weather {"city": "Oslo"} is how a log shows it.',
]
DATA = [
    '{"name": "John Doe", "email": "john@example.com", "age": 30}',
    '```json\n{\n  "name": "my-package",\n  "version": "1.0.0",\n  "scripts": {"test": "pytest"}\n}\n```',
    '{"name": "search", "version": "2.1.0", "dependencies": {"lodash": "^4.0.0"}}',
    '{"name": "get_weather", "description": "Get the weather."}',
    '{"name": "get_weather"}',
    '["apple", "banana", "cherry"]',
    '[{"name": "apple", "price": 1}, {"name": "pear", "price": 2}]',
    '[{"name": "search", "count": 3}, {"name": "get_weather", "count": 1}]',
    '{"type": "function", "count": 3}',
    '{"tool_calls": []}',
    '{"tool_calls": 7}',
    '{"function": "sin", "input": 3.5}',
    '{"name": "search", "input": "tea"}',
    '{"name": "search", "args": ["tea"]}',
    '{"name": "search", "input": {"query": "tea"}, "output": ["green", "black"]}',
    '{"name": "search", "arguments": {"query": "tea"}, "result": "green tea"}',
    '{"calls": [{"name": "search", "arguments": {"query": "tea"}}]}',
    '{"city": "Oslo", "days": 3}',
    "{}",
    "[]",
    "name,arguments\nsearch,tea",
]
DEFINITIONS = [
    '{"type": "function", "function": {"name": "send_email", "parameters": {"type": "object"}}}',
    '{"name": "search", "description": "Search.", "parameters": {"type": "object", "properties": {}}}',
    '{"name": "search", "parameters": {"type": "object", "properties": {"query": {"type": "string"}}}}',
    '{"name": "get_weather", "parameters": {"city": {"type": "string", "description": "The city"}}}',
    '[{"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}]',
    '{"name": "search", "input_schema": {"type": "object", "properties": {"query": {"type": "string"}}}}',
    '```json\n{"name": "get_weather", "parameters": {"type": "object", "required": ["city"]}}\n```',
]
CODE = [
    "```python\nget_weather(city='Oslo')\n```",
    "```python\nprint(get_weather(city='Oslo'))\n```",
    "weather = get_weather(city='Oslo')",
    "get_weather('Oslo')",
    "await search(query='tea')",
    "client.search(query='tea')",
    "get_weather(city='Oslo')  # the weather of Oslo",
    "# The weather of Oslo\nget_weather(city='Oslo', days=2)",
    "from tools import search\n\nsearch(query='tea')",
    '```bash\ncurl -X POST https://example.com/search -d \'{"query": "tea"}\'\n```',
    '```bash\ncurl https://example.com -d \'{"name": "search", "arguments": {"query": "tea"}}\'\n```',
    "```javascript\nsearch({query: 'tea'})\n```",
    "def search(query: str) -> str:\n    return query",
    'search({"query": "tea"})',
]
ONLY_A_CALL = [
    'search(query="tea")',
]
"""What a user gets who asks for one line of code, without a code block: nothing tells it from a call."""

TEXTS = [*PROSE, *EXAMPLES_IN_PROSE, *DATA, *DEFINITIONS, *CODE, *ONLY_A_CALL]
